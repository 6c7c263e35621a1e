"""stand-in"""


def limit_text(text: str, threshold: int) -> str:
    return text if len(text) <= threshold else text[:threshold] + "\n[cut]"
