"""How much memory a question takes at its peak, known before it is asked.

    ledger     arrays that a run holds, one after another; their greatest sum is its peak
    on_cpu     what the CPU engine holds, question by question
    on_cuda    what the CUDA engine holds in the GPU's memory

Each function here goes through a run as the engine does and writes down the arrays. Where the engine decides by the
size of something, the formula is the engine's own (betweenness/regimes.py, policy.py). `hopwave.estimate` is the public
way in.
"""
