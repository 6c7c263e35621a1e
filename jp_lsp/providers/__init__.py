"""Model vendors: one adapter for each API, loaded when first used.

Read in this order: `exchange` (what an adapter is), `chat/` (the family that most servers speak),
`anthropic/`, then what they share: `sse`, `failure`, `reasoning`, `schema`, `attachments`. `http` is the only
module that knows the HTTP library, `registry` the only one that knows which vendors there are.
"""
