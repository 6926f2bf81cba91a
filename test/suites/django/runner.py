"""Runs Django's tests and writes what becomes of each, in a line of a file."""

import os
import unittest

from django.test.runner import DiscoverRunner

report = open(os.environ["LOCUS_REPORT"], "w", buffering=1)


class Result(unittest.TextTestResult):
    def tell(self, state, test, said=""):
        said = str(said).replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "")[-4000:]
        report.write("%s\t%s\t%s\n" % (state, test.id().replace("\t", " ").replace("\n", " "), said))

    def addSuccess(self, test):
        super().addSuccess(test)
        self.tell("passed", test)

    def addError(self, test, err):
        super().addError(test, err)
        self.tell("failed", test, self._exc_info_to_string(err, test))

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.tell("failed", test, self._exc_info_to_string(err, test))

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.tell("failed", test, self._exc_info_to_string(err, test))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.tell("skipped", test, reason)

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.tell("skipped", test, "is expected to fail")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.tell("skipped", test, "is expected to fail")


class Runner(DiscoverRunner):
    def get_resultclass(self):
        return Result
