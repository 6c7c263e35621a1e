"""Events as short words, so that a whole stream fits into one line of a test."""

from tests.adapters.providers.replay import Json


def shown(events: list[Json]) -> list[str]:
    """Write events as short words: `r0:text`, `m1:text`, `s2:id,name`, `a2:text`, `f0`, `ping`, the end."""
    letters = {"reasoning": "r", "message": "m", "structured": "d"}
    words: list[str] = []
    for event in events:
        match event["type"]:
            case "flush":
                words.append(f"f{event['index']}")
            case "part" if event["kind"] == "tool_call":
                said = f"{event['id']},{event['name']}" if event["stage"] == "start" else event["text"]
                words.append(f"{event['stage'][0]}{event['index']}:{said}")
            case "part":
                words.append(f"{letters[event['kind']]}{event['index']}:{event['text']}")
            case "finished":
                words.append(event["reason"] if event["reason"] != "other" else f"other {event['value']}")
            case "keep_alive":
                words.append("ping")
            case _:
                words.append(f"{event['type']} {event['kind']}")
    return words
