"""Anthropic's Messages API (providers 6.1).

`encode` writes a request with the help of `messages`, `thinking`, `caching` and `structured`; `decode` reads
one response; `exchange` makes one answer of several responses (`chaining`, forced tools) and mends rejected
thinking (`repair`); `adapter` joins it to the network.
"""
