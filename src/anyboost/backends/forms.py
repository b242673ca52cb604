"""One source for kernels and for Python: pieces that both run, and pieces found by the type of what they are given."""

from inspect import signature

from numba.core import cgutils, types
from numba.extending import intrinsic, overload, register_jitable

_OPTIONS = {"forceinline": True, "error_model": "numpy"}


def described(function):
    """A piece that is compiled into kernels, and that Python, where it is the caller, runs as it stands."""
    return register_jitable(**_OPTIONS)(function)


def by_type(forms):
    """A function whose body is that of the same name in `forms[type of its first argument]`; a NamedTuple, in kernels.

    What it decorates says which arguments there are and what becomes of them.
    """

    def decorate(prototype):
        name, names = prototype.__name__, list(signature(prototype).parameters)
        given = ", ".join(names)
        scope = {"forms": forms, "as_it_is": _as_it_is}
        exec(
            f"def {name}({given}):\n"
            f"    return forms[type({names[0]})].{name}({given})\n"
            f"def typed({given}):\n"
            f"    form = forms[{names[0]}.instance_class].{name}\n"
            f"    return as_it_is(form, {names}) or (lambda {given}: form({given}))\n",
            scope,
        )
        function = scope[name]
        function.__doc__ = prototype.__doc__
        overload(function, jit_options=_OPTIONS)(scope["typed"])
        return function

    return decorate


def _as_it_is(form, names):
    """The source of a form that names its arguments as asked: compiled with no layer between."""
    source = getattr(form, "py_func", form)
    return source if list(signature(source).parameters) == names else None


def in_kernels(form):
    """A function that gives Python what it is given, and in kernels is `form`."""

    def decorate(function):
        overload(function, jit_options=_OPTIONS)(lambda given: lambda given: form(given))  # noqa: ARG005
        return function

    return decorate


@intrinsic
def borrowed(typing_context, value):  # noqa: ARG001
    """The same array, or tuple of arrays, without a claim to its memory: Numba then counts no references to it.

    Only for arguments of a kernel, whose caller keeps them alive.
    """

    def generate(context, builder, signature, arguments):
        return _without_claim(context, builder, signature.args[0], arguments[0])

    return value(value), generate


def _without_claim(context, builder, kind, value):
    if isinstance(kind, types.Array):
        view = context.make_array(kind)(context, builder, value=value)
        view.meminfo = cgutils.get_null_value(view.meminfo.type)
        view.parent = cgutils.get_null_value(view.parent.type)
        return view._getvalue()
    if isinstance(kind, types.BaseTuple):
        parts = zip(kind, cgutils.unpack_tuple(builder, value), strict=True)
        return context.make_tuple(
            builder, kind, [_without_claim(context, builder, each, part) for each, part in parts]
        )
    return value
