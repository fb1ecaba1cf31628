"""Profiles by hand: protobuf's encoding in four functions, and a small profile made with them."""


def number(value):
    value &= (1 << 64) - 1
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])


def field(tag, value):
    """A field that holds a number."""
    return number(tag << 3) + number(value)


def message(tag, *parts):
    """A field that holds bytes: a message, a string or a packed run."""
    body = b"".join(parts)
    return number(tag << 3 | 2) + number(len(body)) + body


def packed(tag, *values):
    return message(tag, *map(number, values))


STRINGS = ("", "inuse_space", "bytes", "main.leaf", "main.root", "/app/main.go", "space")


def sample(*locations, value):
    return message(2, packed(1, *locations), packed(2, value))


def location(identity, *functions):
    lines = (message(4, field(1, function), field(2, 10 * function)) for function in functions)
    return message(4, field(1, identity), *lines)


def function(identity, name, file=5):
    return message(5, field(1, identity), field(2, name), field(3, name), field(4, file))


def strings(*texts):
    return b"".join(message(6, text.encode()) for text in texts)


INUSE_SPACE = message(1, field(1, 1), field(2, 2))
TWO_FUNCTIONS = function(1, 3) + function(2, 4)
TWO_LOCATIONS = location(1, 1) + location(2, 2)


def profile(*samples, sample_types=INUSE_SPACE, locations=TWO_LOCATIONS, functions=TWO_FUNCTIONS):
    """A profile of `main.root` calling `main.leaf`, location 2 calling location 1."""
    return b"".join([sample_types, *samples, locations, functions, strings(*STRINGS)])
