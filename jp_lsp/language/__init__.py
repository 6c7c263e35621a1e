"""What an editor shows around a text: completion, hover, diagnostics and the like, as pure functions.

Each takes a text, an offset in it (in code points) and what is known of the rest of the world, and gives values.
Nothing here reads a file or knows a client: `server.handlers.language` fetches what is known, and turns offsets
into positions in the client's units.
"""
