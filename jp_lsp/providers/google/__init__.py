"""Google's Gemini API (providers 6.3).

`encode` writes a request, `decode` reads one stream, `exchange` carries one answer out, `repair` mends a
conversation whose thought signatures are refused, `adapter` puts them behind the provider port.
"""
