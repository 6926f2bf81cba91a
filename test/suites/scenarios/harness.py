"""Runs cases, and writes what became of each to the file that SUITE_REPORT names, a line each."""
import datetime
import decimal
import json
import os
import sys
import traceback
import types

endpoint = {'host': os.environ['SUITE_HOST'], 'port': int(os.environ['SUITE_PORT']), 'user': os.environ['SUITE_USER'],
            'password': os.environ['SUITE_PASSWORD']}
database = os.environ['SUITE_DATABASE']
engine = os.environ['SUITE_ENGINE']

_wanted = set(sys.argv[1:])
_report = open(os.environ['SUITE_REPORT'], 'w')


def plain(value):
    """plain makes JSON of a value, and keeps the types that JSON lacks apart."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, types.GeneratorType)):
        return [plain(v) for v in value]
    if isinstance(value, (decimal.Decimal, datetime.date, datetime.time, datetime.timedelta)):
        return [type(value).__name__, str(value)]
    if isinstance(value, (bytes, bytearray)):
        return ['bytes', bytes(value).hex()]
    return value


def say(state, name, detail):
    detail = detail.replace('\\', '\\\\').replace('\n', '\\n').replace('\t', ' ')
    _report.write(f'{state}\t{name}\t{detail}\n')
    _report.flush()


def test(name):
    """test runs the function that it decorates as a case. The result of the case is what that returns."""
    def run(function):
        if _wanted and name not in _wanted:
            return
        try:
            say('passed', name, json.dumps(plain(function()), ensure_ascii=False))
        except Exception:
            say('failed', name, traceback.format_exc())
    return run


def refused(function):
    """refused is the error of a function that must fail."""
    try:
        value = function()
    except Exception as e:
        return [type(e).__name__, *map(str, e.args)]
    raise AssertionError(f'no error, but {value!r}')


def end():
    """end follows the last case."""
    say('passed', 'end', '')
