"""Messages and enums of a .proto file as lines of text that say everything about their fields.

Runs under TensorFlow's Python (3.7) as well as under ours.
"""

from google.protobuf import descriptor_pb2


def lines_of(file_descriptor):
    """Return {message or enum name without its package: [a line for each field or value]}."""
    proto = descriptor_pb2.FileDescriptorProto()
    file_descriptor.CopyToProto(proto)
    lines = {}
    for enum in proto.enum_type:
        _add_enum(lines, "", enum)
    for message in proto.message_type:
        _add_message(lines, "", message)
    return lines


def _add_enum(lines, prefix, enum):
    lines[prefix + enum.name] = [f"{value.name} = {value.number}" for value in enum.value]


def _add_message(lines, prefix, message):
    name = prefix + message.name
    lines[name] = [_field_line(message, field) for field in message.field]
    for enum in message.enum_type:
        _add_enum(lines, name + ".", enum)
    for nested in message.nested_type:
        _add_message(lines, name + ".", nested)


def _field_line(message, field):
    kind = descriptor_pb2.FieldDescriptorProto.Type.Name(field.type)[len("TYPE_") :].lower()
    label = descriptor_pb2.FieldDescriptorProto.Label.Name(field.label)[len("LABEL_") :].lower()
    words = [label, kind, field.name, "=", str(field.number)]
    if field.type_name:
        # Ours is another package.
        words.append("of " + field.type_name.replace(".tensorflow.", "").replace(".tfsandbox.", ""))
    if field.HasField("oneof_index"):
        words.append("in " + message.oneof_decl[field.oneof_index].name)
    if field.HasField("default_value"):
        words.append("default " + field.default_value)
    if field.options.HasField("packed") and not field.options.packed:
        words.append("not packed")
    return " ".join(words)
