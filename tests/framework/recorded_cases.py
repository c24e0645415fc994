"""Expressions whose outcome is recorded from TensorFlow 1.15 and compared with ours.

This module runs under TensorFlow's Python (3.7) as well as under ours, and imports neither of the two itself:
`environment` gets the modules. `record_outcomes.py` writes the files in `recorded/`.
"""

import itertools

import numpy as np


class ArrayLike:
    """An object that numpy can convert."""

    def __array__(self, dtype=None, copy=None):
        return np.array([1.0, 2.0], dtype or np.float64)


class Opaque:
    def __repr__(self):
        return "Opaque"


def environment(dtypes, tensor_shape, errors, tensor_util):
    """The names that the expressions may use."""
    names = {
        "np": np,
        "dtypes": dtypes,
        "errors": errors,
        "ts": tensor_shape,
        "D": tensor_shape.Dimension,
        "S": tensor_shape.TensorShape,
        "ArrayLike": ArrayLike,
        "Opaque": Opaque,
        "proto": tensor_util.make_tensor_proto,
        "values": lambda *args, **kwargs: tensor_util.MakeNdarray(tensor_util.make_tensor_proto(*args, **kwargs)),
        "same_shape": tensor_util.ShapeEquals,
    }
    for name in dir(dtypes):
        if isinstance(getattr(dtypes, name), dtypes.DType):
            names["tf_" + name] = getattr(dtypes, name)
    return names


def outcome(expression, names):
    """What an expression gives, as text: its value or the exception it raises."""
    try:
        return described(eval(expression, dict(names)))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def described(value):
    if hasattr(value, "SerializeToString"):
        return "message " + value.SerializeToString().hex()
    if isinstance(value, np.ndarray):
        return f"array {value.dtype} {value.shape} {described(value.tolist())}"
    if isinstance(value, np.generic):
        return described(value.item())
    if isinstance(value, type):
        return "class " + value.__name__
    if isinstance(value, (list, tuple)):
        return "{}({})".format(type(value).__name__, ", ".join(map(described, value)))
    return repr(value)


NAMES = (
    "float16 float32 float64 bfloat16 complex64 complex128 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool "
    "string resource variant qint8 quint8 qint16 quint16 qint32"
).split()


def dtype_cases():
    attributes = (
        "name as_datatype_enum base_dtype real_dtype is_floating is_integer is_complex is_bool is_unsigned "
        "is_quantized is_numpy_compatible size min max limits _is_ref_dtype _as_ref as_numpy_dtype"
    ).split()
    for name, ref in itertools.product(NAMES, ["", "_ref"]):
        for attribute in attributes:
            if name == "bfloat16" and attribute in ("min", "max", "as_numpy_dtype", "limits"):
                continue  # TensorFlow brings a numpy type of its own; see test_dtypes
            yield f"tf_{name}{ref}.{attribute}"
        yield f"str(tf_{name}{ref}), repr(tf_{name}{ref}), hash(tf_{name}{ref})"
    convertible = (
        "'float32' 'float' 'double' 'half' 'float_ref' 'double_ref' 'half_ref' 'int' 'bool' 'str' 'string' 'object' "
        "'complex' 'f4' '<f4' 'S3' '' 'qint8' 'bfloat16' 'resource' 'float32_ref' None 0 1 3 24 100 101 123 200 -1 1.0 "
        "True float int bool str bytes complex object np.float32 np.dtype('f4') np.dtype('>f4') np.dtype('S3') "
        "np.dtype('U3') np.dtype('O') np.object_ np.str_ np.bytes_ np.void np.generic np.number np.datetime64 "
        "np.longdouble np.longlong np.intc np.uint np.intp np.int32(3) [] {} b'float32' list tf_float32 tf_int32_ref "
        "np.array([1.0]) np.dtype([('a','i4')]) tf_qint8.as_numpy_dtype tf_bfloat16.as_numpy_dtype object()"
    ).split()
    for value in convertible:
        if value != "object()":  # its repr differs from run to run
            yield f"dtypes.as_dtype({value})"
            yield f"tf_float32.is_compatible_with({value})"
            yield f"tf_bool.is_compatible_with({value})"
        yield f"tf_float32 == {value}"
        yield f"tf_float32 != {value}"
        yield f"tf_int32 == {value}"
    for a, b in itertools.product(["tf_float32", "tf_float32_ref", "tf_int32"], repeat=2):
        yield f"{a} == {b}, {a} != {b}, {a}.is_compatible_with({b}), hash({a}) == hash({b})"
    yield "tf_float32 < tf_float64"
    yield "tf_double is tf_float64, tf_half is tf_float16, tf_float32_ref.base_dtype is tf_float32"
    yield "sorted(d.name for d in dtypes.QUANTIZED_DTYPES)"
    yield "sorted(d.name for d in dtypes.TF_VALUE_DTYPES)"
    yield "dtypes.DType(1) == tf_float32, repr(dtypes.DType(101))"
    yield "dtypes.DType(0)"
    yield "dtypes.DType(999)"
    yield "__import__('pickle').loads(__import__('pickle').dumps(tf_float32)) is tf_float32"
    yield "__import__('copy').deepcopy(tf_float32) is tf_float32"
    yield "setattr(tf_float32, 'name', 'x')"
    yield "{tf_float32: 1}[dtypes.as_dtype('float32')]"


def dimension_cases():
    for value in (
        "None 0 1 3 -1 2.0 2.5 '3' 'x' True np.int32(3) np.int64(5) np.float32(2) D(4) D(None) [] [1] b'3' tf_float32 "
        "np.array(3) 1<<70 object"
    ).split():
        yield f"D({value})"
        yield f"D({value}).value"
        yield f"ts.as_dimension({value})"
    others = "D(3) D(None) 3 None 2.0 'a' 2.5 D(0) 0 -1 np.int32(2) tf_float32".split()
    for operator, other in itertools.product("+ - * // / % < <= > >= == !=".split(), others):
        if operator == "==" and other == "np.int32(2)":
            continue
        yield f"D(7) {operator} {other}"
        yield f"D(None) {operator} {other}"
        if "np." not in other:
            yield f"{other} {operator} D(7)"
            yield f"{other} {operator} D(None)"
    yield from (
        "int(D(3))", "int(D(None))", "[1, 2, 3, 4][D(3)]", "[1][D(None)]", "hash(D(3))", "bool(D(0))", "bool(D(None))",
        "'%d' % D(3)", "float(D(3))", "range(D(3))", "np.zeros([D(3)])", "str(D(3))", "str(D(None))",
        "D(3).__reduce__()", "D(7) + np.array([1, 2])", "np.array([1, 2]) * D(7)", "D(None).__index__()",
    )
    for a, b, method in itertools.product(
        ["D(3)", "D(None)"],
        ["D(3)", "D(4)", "D(None)", "3", "4", "None"],
        ["merge_with", "is_compatible_with", "assert_is_compatible_with"],
    ):
        yield f"{a}.{method}({b})"


def shape_cases():
    for value in (
        "None [] () [1,2] [None,3] [D(2),None] 5 D(5) D(None) 'ab' '3' S([1,2]) S(None) np.array([1,2]) np.array(3) "
        "np.int64(4) [-1,2] [1.5] [2.0] ['a'] [[1,2]] 3.0 range(3) (i+1_for_i_in_[1,2]) {1:2} [1<<40,1<<40] True "
        "object S([1,2]).as_proto() S(None).as_proto() S([None,3]).as_proto()"
    ).split():
        value = value.replace("_for_i_in_", " for i in ")
        yield f"S({value})"
        yield f"str(S({value}))"
        yield f"ts.as_shape({value})"
    shapes = ["S(None)", "S([])", "S([3])", "S([None])", "S([2,3])", "S([None,3])", "S([2,None,4])"]
    for shape in shapes:
        for use in (
            ".rank .ndims .dims .is_fully_defined() .num_elements() .as_list() .as_proto() .assert_is_fully_defined() "
            ".__len__() .__bool__() .__reduce__() [0] [-1] [5] [0:1] [1:] [:-1] [-2:] [:] [::2] [2:] [3:5] [None] "
            "['a'] [1:0] [-1:2] [D(0)] [::-1] [0:1:2] [-1:] [:0] [10:] [1:-1]"
        ).split():
            yield shape + use
        yield f"list({shape})"
        yield f"hash({shape})"
        yield f"str({shape})"
        yield f"[s == s for s in [{shape}]]"
        yield f"[s == S(s) for s in [{shape}]]"
        for method, rank in itertools.product(
            ["with_rank", "with_rank_at_least", "with_rank_at_most", "assert_has_rank"], [0, 1, 2]
        ):
            yield f"{shape}.{method}({rank})"
        for other in shapes + ["[2,3]", "None", "5", "'a'", "(3,)"]:
            for method in (
                "merge_with concatenate is_compatible_with assert_is_compatible_with assert_same_rank "
                "most_specific_compatible_shape"
            ).split():
                yield f"{shape}.{method}({other})"
            for operator in ["==", "!=", "+"]:
                yield f"{shape} {operator} {other}"
            if not other.startswith("S"):
                yield f"{other} + {shape}"
                yield f"{other} == {shape}"
    yield from (
        "ts.unknown_shape()", "ts.unknown_shape(2)", "ts.unknown_shape(ndims=3)", "ts.unknown_shape(rank=3)",
        "ts.scalar()", "ts.vector(3)", "ts.vector(None)", "ts.matrix(2, None)", "ts.dimension_at_index(S([2, 3]), 1)",
        "ts.dimension_at_index(S(None), 1)", "ts.dimension_at_index(S([2, 3]), 5)", "ts.dimension_value(D(3))",
        "ts.dimension_value(3)", "ts.dimension_value(D(None))", "np.zeros(S([2, 3])).shape", "tuple(S([2, 3]))",
        "np.prod(S([2, 3]))", "3 in S([2, 3])", "[type(x) for x in S([2]).as_list()]", "S([2]) == object()",
        "S([2]) != object()", "S([None, 2]) == [None, 2]", "S([None]) == S([None])", "[1] + S([2]).as_list()",
    )


VALUES = (
    "1|True|1.5|1j|'a'|b'a'|None|[1]|[1,2]|[True,False]|[1,2.5]|[True,1]|[True,2.5]|[1,'a']|['a','b']|['a',b'bc\\0']|"
    "[1j,2]|[]|[[]]|[[1,2],[3]]|[[1,2],3]|[1,[2,3]]|[[1,2],[3,4]]|(1,2)|[(1,2),(3,4)]|2**31|2**31-1|-2**31|2**40|2**63|"
    "2**64|300|-1|[2**40,1]|[1.5,2**70]|1e300|[None]|[1,None]|['a',None]|np.float64(1.5)|np.float32(1.5)|np.int64(3)|"
    "np.int8(3)|np.array([1.,2.])|np.array([1,2])|np.array(['a','bc'])|np.array([b'a'])|np.array(['a',1],dtype=object)|"
    "np.array([1,2],dtype=object)|np.array([])|np.array(5,np.uint8)|np.bool_(True)|np.array([True,False])|"
    "[np.float32(1),np.float32(2)]|[np.float64(1),np.float64(2)]|[np.int32(1)]|[np.array([1,2]),np.array([3,4])]|"
    "[np.array([1,2]),[3,4]]|np.float16(1.5)|[np.float16(1)]|D(3)|[D(3)]|[D(None)]|S([1,2])|[S([1,2])]|ArrayLike()|"
    "Opaque()|[Opaque()]|{1:2}|set([1])|range(3)|object|tf_float32|[[1,[2]],[3,[4]]]|u'\\u00e9'|bytearray(b'a')|"
    "[float('nan')]|float('inf')|np.array([1,2])[::-1]|np.array([[1,2],[3,4]]).T|np.array(['1'])|np.array(1.)|"
    "[np.bool_(True)]|[np.uint8(3),1]|[np.uint64(2**63)]|np.array([2**40])|np.zeros([0,3])|[[],[]]|[[1],[]]|[b'\\xff']|"
    "slice(1,2)|[np.str_('a')]|[[1.0,2],[3,True]]|np.array([np.nan])|[['a'],['b','c']]"
).split("|")


def conversion_cases():
    for value in VALUES:
        yield f"proto({value})"
    for dtype, value in itertools.product(
        ["int32", "float32", "bool", "string", "uint8", "float16", "complex64", "resource"], VALUES
    ):
        yield f"proto({value}, tf_{dtype})"
    for dtype in NAMES:
        for value in ["[1, 2]", "3", "[(1,), (2,)]", "(3,)", "-1", "np.array([1.0, 2.0])", "np.array(3)", "[0.5, 1.5]"]:
            yield f"proto({value}, tf_{dtype})"
    for dtype in ["float32_ref", "int32_ref", "bool_ref"]:
        yield f"proto([True, False], tf_{dtype})"
    for value, shape, keyword in itertools.product(
        ["1", "[1]", "[1,2]", "[[1,2],[3,4]]", "np.array(1)", "np.array([1,2,3])", "[]", "'a'", "['a','b']", "True"],
        ["[]", "[1]", "[2]", "[2,2]", "[3]", "(4,)", "5", "[None]", "[-1]", "[1,1]", "S([2])", "[2.0]", "[0,3]"],
        ["", ", verify_shape=True", ", allow_broadcast=True"],
    ):
        yield f"proto({value}, shape={shape}{keyword})"
    for value in ["1", "[1,2]", "1.5", "[[1.5,2],[3,4]]", "'a'", "['a','b']", "True", "[1j]", "[]"]:
        for shape in ["", ", shape=[2,3]"]:
            yield f"values({value}{shape})"
    yield "proto(proto([1, 2]))"
    yield "proto(1, 'float')"
    yield "proto(1, np.float64)"
    yield "proto(1, 'nonsense')"
    yield "same_shape(proto([[1, 2]]), [1, 2]), same_shape(proto([[1, 2]]), (2, 1))"
    yield "same_shape(proto([[1, 2]]), proto([[3, 4]]).tensor_shape)"
    yield "same_shape(proto([[1, 2]]), 4)"
    yield "same_shape(1, [2])"


CODES = (
    "OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED "
    "RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS "
    "UNAUTHENTICATED"
).split()


def error_cases():
    for code in CODES:
        yield f"errors.{code}"
    for code in range(-1, 19):
        made = f"errors.exception_type_from_error_code({code})"
        yield made
        yield f"[base.__name__ for base in {made}.__mro__]"
        yield f"[(str(e), repr(e), e.args, e.message, e.error_code, e.op) for e in [{made}(None, None, 'text')]]"
    yield from (
        "errors.error_code_from_exception_type(errors.OutOfRangeError)",
        "errors.error_code_from_exception_type(ValueError)",
        "str(errors.OpError(None, None, 'text', 3)), errors.OpError(None, None, 'text', 3).error_code",
        "errors.UnknownError(None, None, 'text', 77).error_code",
        "[base.__name__ for base in errors.InaccessibleTensorError.__mro__]",
        "[base.__name__ for base in errors.OperatorNotAllowedInGraphError.__mro__]",
        "errors._make_specific_exception(None, None, 'text', 5)",
        "errors._make_specific_exception(None, None, 'text', 99).error_code",
        "errors.InvalidArgumentError()",
    )


SUBJECTS = {
    "dtypes": dtype_cases,
    "dimensions": dimension_cases,
    "shapes": shape_cases,
    "conversions": conversion_cases,
    "errors": error_cases,
}
