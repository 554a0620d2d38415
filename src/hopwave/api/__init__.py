"""The public functions of hopwave. Each checks its arguments, chooses an engine and a plan, and wraps the result.

`options` describes the arguments that many functions share; `arguments` and `weights` check them. `choice` selects the
engine and the plan if the caller names none. `import hopwave` exports all public functions of the other modules; no
lower layer imports this folder.
"""
