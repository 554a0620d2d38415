"""The public functions of hopwave. Each one checks its arguments, chooses an engine and a plan, runs, and wraps.

`options` describes the arguments that many functions share, and `arguments` and `weights` check them. `choice` has the
engine and the plan if the caller names none. `import hopwave` offers all public functions of the other modules; no
lower layer imports this folder.
"""
