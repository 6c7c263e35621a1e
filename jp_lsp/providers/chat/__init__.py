"""The chat-completions family: one encoder and one decoder, vendors as data (providers 6.5, "rule F").

`dialect` says what may differ, `encode` and `decode` do the work, `adapter` joins them to the network.
`llamacpp`, `lmstudio` and `compatible` are the dialects.
"""
