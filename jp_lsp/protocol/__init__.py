"""What editors are promised: the wire, defined once.

`methods` is the table that everything else follows: the server registers its handlers from it, the
exporter writes the clients' types and the protocol page from it, and tests compare the three. The models
beside it are grouped by what they are about. Nothing here knows the domain; `jp_lsp.server.to_wire` and
`jp_lsp.server.from_wire` convert by hand.
"""
