<?php
// IDs of a generator, kept ready in memory. PHP 8.0 or later; for SQL the extension pdo_mysql.
//
//   $ids = new Ids(httpIds('http://locus:8080/api/id/ticket', 'app', '...'));
//   $ids->next();   // '1'
//
// An Ids belongs to one process. PHP has no threads, so a batch is fetched when the one before is used up. A worker that lives
// for one request takes few IDs: give it a small batch. IDs in memory are lost when the process ends.
final class Ids
{
    /** @var string[] */
    private array $ready = [];

    /** $fetch(n) returns up to n IDs. */
    public function __construct(private Closure $fetch, private int $batch = 1000)
    {
    }

    /** Returns an ID. It throws an error if two fetches fail. */
    public function next(): string
    {
        if ($this->ready === []) {
            try {
                $ids = ($this->fetch)($this->batch);
            } catch (Exception) {
                $ids = ($this->fetch)($this->batch);
            }
            $this->ready = array_reverse($ids);
        }
        return array_pop($this->ready);
    }
}

/** Returns a fetch over HTTP. A request that failed may have used numbers up; they are lost, and no ID comes twice. */
function httpIds(string $url, ?string $user = null, ?string $password = null): Closure
{
    return function (int $n) use ($url, $user, $password): array {
        $header = $user === null ? '' : 'Authorization: Basic ' . base64_encode("$user:$password");
        $context = stream_context_create(['http' => ['timeout' => 5, 'ignore_errors' => true, 'header' => $header]]);
        $text = @file_get_contents($url . (str_contains($url, '?') ? '&' : '?') . "n=$n", false, $context);
        if ($text === false) {
            throw new RuntimeException("$url: no answer");
        }
        if (!preg_match('# 200 #', $http_response_header[0] . ' ')) {
            throw new RuntimeException("$url: $http_response_header[0]: " . trim($text));
        }
        return explode("\n", $text);
    };
}

/** Returns a fetch over SQL. */
function sqlIds(PDO $db, string $generator): Closure
{
    return function (int $n) use ($db, $generator): array {
        $ids = [];
        while (count($ids) < $n) {
            $list = implode(', ', array_fill(0, min(100, $n - count($ids)), "NEXTVAL($generator)"));
            array_push($ids, ...array_map('strval', $db->query("SELECT $list")->fetch(PDO::FETCH_NUM)));
        }
        return $ids;
    };
}

// php ids.php URL COUNT: prints IDs.
if (PHP_SAPI === 'cli' && realpath($argv[0]) === __FILE__) {
    $ids = new Ids(httpIds($argv[1]));
    for ($i = 0; $i < (int) $argv[2]; $i++) {
        echo $ids->next(), "\n";
    }
}
