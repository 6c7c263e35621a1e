"""OpenAI's Responses API (providers 6.2).

`encode` writes a request, `decode` reads a stream, `exchange` joins the two and mends what the vendor refuses;
`models` is the table of what the vendor's list leaves out.
"""
