"""Tools and documents of MCP servers: one pool of connections for the whole program.

`servers` keeps the pool and `connection` one connection with its life; `child` and `stdio`, or `http`, carry
the messages. `tools` turns what a server offers into definitions, `executor` runs calls, `resources` reads
documents, and `uses` finds the call that a server's question belongs to. The library behind it is large: only
`connection` and its helpers import it, and `servers` imports those by name, in a worker thread, when a server
is first needed.
"""
