<?php
// Runs cases, and writes what became of each to the file that SUITE_REPORT names, a line each.
error_reporting(E_ALL & ~E_DEPRECATED);
ini_set('display_errors', 'stderr');
$endpoint = [
	'host' => getenv('SUITE_HOST'), 'port' => (int) getenv('SUITE_PORT'), 'user' => getenv('SUITE_USER'), 'password' => getenv('SUITE_PASSWORD'),
	'database' => getenv('SUITE_DATABASE'),
];

function say($state, $name, $detail) {
	file_put_contents(getenv('SUITE_REPORT'), "$state\t$name\t" . str_replace(["\\", "\n", "\t"], ["\\\\", '\n', ' '], $detail) . "\n", FILE_APPEND);
}

// test runs a case. Its result is what the function returns.
function test($name, $run) {
	global $argv;
	if (count($argv) > 1 && !in_array($name, array_slice($argv, 1), true)) {
		return;
	}
	try {
		$result = json_encode($run(), JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_PRESERVE_ZERO_FRACTION | JSON_THROW_ON_ERROR);
		say('passed', $name, $result);
	} catch (Throwable $e) {
		$trace = array_filter($e->getTrace(), fn ($at) => strpos($at['file'] ?? '', '/test/suites/') !== false);
		$at = $trace ? reset($trace) : ['file' => $e->getFile(), 'line' => $e->getLine()];
		say('failed', $name, get_class($e) . ': ' . $e->getMessage() . " ({$at['file']}:{$at['line']})");
	}
}

// refused is the error of a function that must fail.
function refused($run) {
	try {
		$value = $run();
	} catch (Throwable $e) {
		while ($e->getPrevious() && !$e instanceof PDOException) {
			$e = $e->getPrevious();
		}
		return $e instanceof PDOException ? [$e->errorInfo ?? $e->getMessage()] : [get_class($e), $e->getMessage()];
	}
	throw new Exception('no error, but ' . var_export($value, true));
}

function equal($got, $want) {
	if ($got !== $want) {
		throw new Exception(json_encode($got) . ', want ' . json_encode($want));
	}
}

// finish follows the last case.
function finish() {
	say('passed', 'end', '');
}
