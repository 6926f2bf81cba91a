<?php
// What the wiki is made to do; $this is the Cases of cases.php.
use MediaWiki\MediaWikiServices;
use MediaWiki\Revision\SlotRecord;

$services = MediaWikiServices::getInstance();
$root = User::newFromName('Root');
$users = [];

$this->test('users', function () use (&$users) {
	for ($n = 1; $n <= 12; $n++) {
		$users[$n] = User::createNew("Writer$n", ['email' => "writer$n@wiki.example", 'real_name' => "Writer Nº $n"]);
	}
	return array_map(fn ($u) => [$u->getId(), $u->getName(), $u->getRealName()], $users);
});
$this->test('a user by that name is there', fn () => User::createNew('Writer1'));
$this->test('options', function () use (&$users, $services) {
	$options = $services->getUserOptionsManager();
	foreach ($users as $n => $user) {
		$options->setOption($user, 'rclimit', 10 + $n);
		$options->setOption($user, 'gender', $n % 2 ? 'female' : 'male');
		$options->setOption($user, 'userjs-note', "it's $n");
		$options->saveOptions($user);
	}
	$options->setOption($users[3], 'gender', 'unknown'); // as it is by default: the row goes
	$options->saveOptions($users[3]);
	$options->setOption($users[4], 'rclimit', 99);
	$options->saveOptions($users[4]);
	return array_map(function ($user) use ($options) {
		$options->clearUserOptionsCache($user);
		return [$options->getIntOption($user, 'rclimit'), $options->getOption($user, 'gender'), $options->getOption($user, 'userjs-note')];
	}, $users);
});
$this->test('options reset', function () use (&$users, $services) {
	$options = $services->getUserOptionsManager();
	$options->resetOptions($users[5], RequestContext::getMain(), ['all']);
	$options->saveOptions($users[5]);
	$options->clearUserOptionsCache($users[5]);
	return $options->getOption($users[5], 'userjs-note');
});
$this->test('groups', function () use (&$users, $services) {
	$groups = $services->getUserGroupManager();
	foreach ($users as $n => $user) {
		$groups->addUserToGroup($user, $n % 3 ? 'bot' : 'sysop');
		if ($n % 4 == 0) {
			$groups->addUserToGroup($user, 'bureaucrat', '20270101000000');
		}
	}
	$groups->addUserToGroup($users[4], 'bureaucrat', '20280101000000', true);
	$groups->removeUserFromGroup($users[1], 'bot');
	$groups->addUserToGroup($users[2], 'interface-admin', '20250101000000'); // has ended already
	return array_map(function ($user) use ($groups) {
		$groups->clearCache($user);
		$list = $groups->getUserGroups($user);
		sort($list);
		return $list;
	}, $users);
});
$this->test('ended memberships are purged', fn () => $services->getUserGroupManager()->purgeExpired());
$this->test('edits', function () use (&$users) {
	$made = [];
	for ($n = 1; $n <= 16; $n++) {
		$user = $users[$n % 12 + 1];
		$next = $n % 16 + 1;
		$page = $this->edit("Page $n", "== Head ==\nText of page $n, which has [[Page $next]] and [[Nowhere $n]]. {{Box|$n}} [[Category:Even " . ($n % 2) . "]]" .
			($n % 3 ? '' : "\n__NOTOC__\n{{DISPLAYTITLE:page $n}}"), $user, "made $n");
		$made[] = [$page->getId(), $page->getLatest()];
	}
	return $made;
});
$this->test('a template, then what has it', function () use ($root) {
	$this->edit('Template:Box', 'Box of {{{1}}}, [[Page 1]] [[Category:Boxed]]', $root);
	$this->jobs();
	return count(iterator_to_array(Category::newFromName('Boxed')->getMembers()));
});
$this->test('more edits', function () use (&$users) {
	$ids = [];
	foreach ([1, 2, 3, 1, 2, 1] as $at => $n) {
		$ids[] = $this->edit("Page $n", "Text $at of page $n: elephants, [[Page " . ($n + 5) . "]] [[Category:Late]]", $users[$at + 1], "more $at", EDIT_UPDATE)->getLatest();
	}
	return $ids;
});
$this->test('an edit of a page that is not there', function () use ($root) {
	try {
		$this->edit('No such page', 'x', $root, '', EDIT_UPDATE);
	} catch (Exception $e) {
		return $e->getMessage();
	}
});
$this->test('texts with what texts may have', function () use ($root) {
	$text = "quotes ' \" ` \\ percent % _ emoji \u{1F418} null-like \\0 \n <nowiki>''</nowiki> ünï日本語";
	$page = $this->edit('Letters: ünï 日本語 & \'"', $text, $root);
	return WikiPage::factory($page->getTitle())->getContent()->getText() === $text;
});
$this->test('history', function () use ($services) {
	$title = Title::newFromText('Page 1');
	$list = [];
	$store = $services->getRevisionStore();
	for ($r = $store->getRevisionByTitle($title); $r; $r = $store->getPreviousRevision($r)) {
		$list[] = [$r->getId(), $r->getUser()->getName(), $r->getComment()->text, $r->getContent(SlotRecord::MAIN)->getText()];
	}
	return $list;
});
$this->test('roll back', function () use ($root, $services) {
	$status = $services->getRollbackPageFactory()->newRollbackPage(WikiPage::factory(Title::newFromText('Page 2')), $root, User::newFromName('Writer5'))->rollbackIfAllowed();
	return [$status->isOK(), WikiPage::factory(Title::newFromText('Page 2'))->getContent()->getText()];
});
$this->test('move', function () use (&$users, $services) {
	$status = $services->getMovePageFactory()->newMovePage(Title::newFromText('Page 4'), Title::newFromText('Moved 4'))->move($users[3], 'because', true);
	$redirect = WikiPage::factory(Title::newFromText('Page 4'))->getRedirectTarget();
	return [$status->isOK(), $redirect ? $redirect->getPrefixedText() : null];
});
$this->test('delete', function () use ($root, $services) {
	foreach (['Page 5', 'Page 6'] as $title) {
		$services->getDeletePageFactory()->newDeletePage(WikiPage::factory(Title::newFromText($title)), $root)->deleteUnsafe('old');
	}
	return [Title::newFromText('Page 5')->exists(Title::READ_LATEST), Title::newFromText('Page 5')->getDeletedEditsCount()];
});
$this->test('undelete', function () use ($root, $services) {
	$page = $services->getWikiPageFactory()->newFromTitle(Title::newFromText('Page 5'));
	$services->getUndeletePageFactory()->newUndeletePage($page, $root)->undeleteUnsafe('back');
	$title = Title::newFromText('Page 5');
	return [$title->exists(Title::READ_LATEST), WikiPage::factory($title)->getContent()->getText()];
});
$this->test('protect', function () use ($root) {
	$page = WikiPage::factory(Title::newFromText('Page 7'));
	$cascade = false;
	$status = $page->doUpdateRestrictions(['edit' => 'sysop', 'move' => 'sysop'], ['edit' => 'infinity', 'move' => '20270101000000'], $cascade, 'safe', $root);
	return $status->isOK();
});
$this->test('watch', function () use (&$users, $services) {
	$store = $services->getWatchedItemStore();
	foreach ($users as $n => $user) {
		$store->addWatchBatchForUser($user, [Title::newFromText("Page $n"), Title::newFromText('Page 1'), Title::newFromText("Talk:Page $n")]);
	}
	$store->removeWatch($users[1], Title::newFromText('Talk:Page 1'));
	return array_map(fn ($user) => $store->countWatchedItems($user), $users);
});
$this->test('watchers', function () use ($services) {
	$store = $services->getWatchedItemStore();
	return [$store->countWatchers(Title::newFromText('Page 1')), $store->countWatchers(Title::newFromText('Page 15')),
		$store->countWatchersMultiple([Title::newFromText('Page 1'), Title::newFromText('Page 2')])];
});
$this->test('what watchers are told', function () use (&$users, $services) {
	$this->edit('Page 1', 'Text for watchers, with elephants', $users[7], 'told');
	$store = $services->getWatchedItemStore();
	$left = array_map(fn ($user) => (bool) $store->getNotificationTimestampsBatch($user, [Title::newFromText('Page 1')])[0]['Page_1'], $users);
	$store->resetAllNotificationTimestampsForUser($users[2]);
	return $left;
});
$this->test('watchlist emptied', function () use (&$users, $services) {
	$services->getWatchedItemStore()->clearUserWatchedItems($users[12]);
	return $services->getWatchedItemStore()->countWatchedItems($users[12]);
});
$this->test('watched pages that move', function () use (&$users, $services) {
	$services->getWatchedItemStore()->duplicateAllAssociatedEntries(Title::newFromText('Page 9'), Title::newFromText('Moved 9'));
	$list = array_map(fn ($item) => $item->getTarget()->getText(), $services->getWatchedItemStore()->getWatchedItemsForUser($users[9]));
	sort($list);
	return $list;
});
$this->test('rebuild the search index', function () {
	$child = $this->runChild('RebuildTextIndex', $GLOBALS['dir'] . '/maintenance/rebuildtextindex.php');
	ob_start();
	$child->execute();
	ob_end_clean();
	return true;
});
foreach (['elephants', 'text -elephants', '"page 8"', 'ünï', 'nothingofthekind'] as $for) {
	$this->test("search $for", function () use ($for, $services) {
		$found = $services->newSearchEngine()->searchText($for);
		$list = [];
		foreach ($found && !($found instanceof Status) ? $found : $found->getValue() as $result) {
			$list[] = $result->getTitle()->getPrefixedText();
		}
		sort($list);
		return $list;
	});
}
$this->test('block', function () use (&$users, $root, $services) {
	$status = $services->getBlockUserFactory()->newBlockUser('Writer11', $root, 'infinity', 'enough')->placeBlockUnsafe();
	$again = User::newFromName('Writer11');
	return [$status->isOK(), (bool) $again->getBlock(User::READ_LATEST)];
});
$this->test('unblock', fn () => $services->getUnblockUserFactory()->newUnblockUser('Writer11', $root, 'sorry')->unblockUnsafe()->isOK());
$asked = [
	'all pages' => ['list' => 'allpages', 'aplimit' => 50],
	'recent changes' => ['list' => 'recentchanges', 'rcprop' => 'title|ids|user|comment|sizes|flags', 'rclimit' => 100],
	'back links' => ['list' => 'backlinks', 'bltitle' => 'Page 1', 'bllimit' => 50],
	'embedded in' => ['list' => 'embeddedin', 'eititle' => 'Template:Box', 'eilimit' => 50],
	'members of a category' => ['list' => 'categorymembers', 'cmtitle' => 'Category:Even 1', 'cmlimit' => 50],
	'all categories' => ['list' => 'allcategories', 'acprop' => 'size', 'aclimit' => 50],
	'contributions' => ['list' => 'usercontribs', 'ucuser' => 'Writer2', 'uclimit' => 50, 'ucprop' => 'title|comment|ids'],
	'users' => ['list' => 'allusers', 'auprop' => 'groups|editcount|implicitgroups', 'aulimit' => 50],
	'users of a group' => ['list' => 'allusers', 'augroup' => 'sysop', 'aulimit' => 50],
	'users outside of a group' => ['list' => 'allusers', 'auexcludegroup' => 'sysop', 'aulimit' => 50],
	'who is who' => ['list' => 'users', 'ususers' => 'Writer1|Writer4|Nobody', 'usprop' => 'groups|groupmemberships|gender|editcount'],
	'page props' => ['prop' => 'pageprops', 'titles' => 'Page 3|Page 6|Page 9|Page 10|Page 12'],
	'pages with a prop' => ['list' => 'pageswithprop', 'pwppropname' => 'notoc', 'pwplimit' => 50],
	'names of props' => ['list' => 'pagepropnames', 'ppnlimit' => 50],
	'links of pages' => ['prop' => 'links|categories|templates', 'titles' => 'Page 1|Page 8|Page 10', 'pllimit' => 50, 'cllimit' => 50, 'tllimit' => 50],
	'all links' => ['list' => 'alllinks', 'alunique' => 1, 'allimit' => 50],
	'info' => ['prop' => 'info', 'titles' => 'Page 1|Page 7', 'inprop' => 'protection|watchers|visitingwatchers|watched'],
	'statistics' => ['meta' => 'siteinfo', 'siprop' => 'statistics'],
	'log' => ['list' => 'logevents', 'lelimit' => 100, 'leprop' => 'type|title|user|comment|ids'],
];
foreach ($asked as $what => $params) {
	$this->test("API: $what", fn () => $this->api($root, ['action' => 'query'] + $params));
}
$this->test('API: own watchlist', fn () => $this->api($users[2], ['action' => 'query', 'list' => 'watchlist', 'wlprop' => 'title|user|ids', 'wlallrev' => 1, 'wllimit' => 50]));
$this->test('API: raw watchlist', fn () => $this->api($users[2], ['action' => 'query', 'list' => 'watchlistraw', 'wrlimit' => 50]));
$this->test('rights by the page for them', function () use (&$users, $root) {
	$page = new UserrightsPage();
	$page->getContext()->setUser($root);
	return $page->doSaveUserGroups($users[8], ['sysop'], ['bot'], 'why');
});
$this->test('API: purge', fn () => $this->api($root, ['action' => 'purge', 'titles' => 'Page 1|Page 2', 'forcerecursivelinkupdate' => 1]));
foreach (['RecentChanges', 'Watchlist', 'ListUsers', 'AllPages', 'Wantedpages', 'Lonelypages', 'Mostlinked', 'Uncategorizedpages', 'Deadendpages', 'Ancientpages', 'Mostcategories', 'Wantedcategories', 'Mostlinkedtemplates', 'Statistics', 'Categories', 'ActiveUsers'] as $name) {
	$this->test("Special:$name", function () use ($name, $root, $services) {
		$context = new DerivativeContext(RequestContext::getMain());
		$context->setUser($root);
		$context->setTitle(SpecialPage::getTitleFor($name));
		$context->setRequest(new FauxRequest(['limit' => 100]));
		$context->setOutput(new OutputPage($context));
		$page = $services->getSpecialPageFactory()->getPage($name);
		$page->setContext($context);
		$page->run(null);
		preg_match_all('/title="([^"]*)"/', $context->getOutput()->getHTML(), $titles);
		$titles = array_unique($titles[1]);
		sort($titles);
		return $titles;
	});
}
$this->test('merge of histories', function () use ($root, $services) {
	$status = $services->getMergeHistoryFactory()->newMergeHistory(Title::newFromText('Page 14'), Title::newFromText('Page 15'))->merge($root, 'one');
	return $status->isOK();
});
foreach (['refreshLinks', 'initSiteStats', 'recountCategories', 'rebuildrecentchanges', 'purgeExpiredUserrights', 'initEditCount', 'showSiteStats', 'purgeExpiredWatchlistItems'] as $script) {
	$this->test("maintenance/$script.php", function () use ($script) {
		exec(PHP_BINARY . ' ' . escapeshellarg($GLOBALS['dir'] . "/maintenance/$script.php") . ' --conf ' . escapeshellarg(MW_CONFIG_FILE)
			. ($script == 'initSiteStats' ? ' --update' : '') . ($script == 'recountCategories' ? ' --mode=pages' : '') . ' 2>&1', $said, $status);
		return [$status, preg_grep('/error|exception/i', $said)];
	});
}
$this->test('maintenance/update.php', function () {
	exec(PHP_BINARY . ' ' . escapeshellarg($GLOBALS['dir'] . '/maintenance/update.php') . ' --quick --conf ' . escapeshellarg(MW_CONFIG_FILE) . ' 2>&1', $said, $status);
	return [$status, preg_grep('/error|exception/i', $said)];
});
report('passed', 'end', '');
