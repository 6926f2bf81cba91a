<?php
// Installs MediaWiki by its own installer and uses it by its own functions. Each case writes a line of the report: its state, its
// name, and what the case found, or what was refused.
error_reporting(E_ALL & ~E_DEPRECATED & ~E_WARNING & ~E_NOTICE);
mt_srand(1);
$dir = getenv('APP_DIR');
$database = getenv('APP_DATABASE');
$server = getenv('APP_HOST') . ':' . getenv('APP_PORT');

function report($state, $name, $said) {
	$line = "$state\t$name\t" . str_replace(["\\", "\n", "\t"], ["\\\\", '\n', ' '], $said) . "\n";
	file_put_contents(getenv('APP_REPORT'), $line, FILE_APPEND);
}

file_put_contents(getenv('APP_REPORT'), '');
$install = [
	PHP_BINARY, "$dir/maintenance/install.php", '--dbtype', 'mysql', '--dbserver', $server, '--dbname', $database, '--dbuser', getenv('APP_USER'),
	'--dbpass', getenv('APP_PASSWORD'), '--confpath', getcwd(), '--scriptpath', '', '--server', 'http://wiki.example', '--pass', 'a long secret of 2026', 'Wiki', 'Root',
];
exec(implode(' ', array_map('escapeshellarg', $install)) . ' 2>&1', $said, $status);
report($status === 0 ? 'passed' : 'failed', 'install', $status === 0 ? 'done' : implode("\n", $said));
if ($status !== 0) {
	exit(1);
}
file_put_contents('LocalSettings.php', <<<'SETTINGS'

$wgMainCacheType = CACHE_NONE;
$wgMessageCacheType = CACHE_NONE;
$wgParserCacheType = CACHE_NONE;
$wgSessionCacheType = CACHE_NONE;
$wgJobRunRate = 0;
$wgSecretKey = 'secret';
$wgUpgradeKey = 'upgrade';
$wgCacheDirectory = __DIR__ . '/cache';
$wgPasswordDefault = 'A';
$wgPasswordConfig['A'] = ['class' => 'MWOldPassword'];
$wgEnotifWatchlist = true;
$wgEnableEmail = false;
$wgMiserMode = false;
$wgShowExceptionDetails = true;
SETTINGS, FILE_APPEND);
define('MW_CONFIG_FILE', getcwd() . '/LocalSettings.php');
require_once "$dir/maintenance/Maintenance.php";

use MediaWiki\MediaWikiServices;
use MediaWiki\Revision\SlotRecord;

class Cases extends Maintenance {
	private $now = 1767323045;

	public function execute() {
		require __DIR__ . '/steps.php';
	}

	// test runs a case. Which rows a statement without ORDER BY gives first is no server's to say: a case sorts them.
	public function test($name, $run) {
		MediaWikiServices::getInstance()->getLinkCache()->clear();
		try {
			$result = $run();
			DeferredUpdates::doUpdates();
			$this->jobs();
			report('passed', $name, json_encode($result, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_PARTIAL_OUTPUT_ON_ERROR));
		} catch (Throwable $e) {
			report('failed', $name, get_class($e) . ': ' . $e->getMessage() . ' ' . $e->getFile() . ':' . $e->getLine());
			try {
				MediaWikiServices::getInstance()->getDBLoadBalancerFactory()->rollbackPrimaryChanges(__METHOD__);
			} catch (Throwable $e) {
				// the next case says so
			}
		}
	}

	public function jobs() {
		$group = MediaWikiServices::getInstance()->getJobQueueGroup();
		for ($n = 0; $n < 200 && ($job = $group->pop()); $n++) {
			$job->run();
			$group->ack($job);
			DeferredUpdates::doUpdates();
		}
	}

	public function edit($title, $text, $user, $summary = '', $flags = 0) {
		$page = MediaWikiServices::getInstance()->getWikiPageFactory()->newFromTitle(Title::newFromText($title));
		$status = $page->doUserEditContent(ContentHandler::makeContent($text, $page->getTitle()), $user, $summary, $flags);
		if (!$status->isOK()) {
			throw new Exception($status->getWikiText(false, false, 'en'));
		}
		return $page;
	}

	public function api($user, $params) {
		$context = new DerivativeContext(RequestContext::getMain());
		$context->setRequest(new FauxRequest($params + ['format' => 'json'], true));
		$context->setUser($user);
		$context->setLanguage('en');
		$api = new ApiMain($context, true);
		$api->execute();
		return $api->getResult()->getResultData(null, ['Strip' => 'all']);
	}
}

$maintClass = Cases::class;
require_once RUN_MAINTENANCE_IF_MAIN;
