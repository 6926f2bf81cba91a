<?php
// Installs WordPress by its own installer and uses it by its own functions. Each case writes a line of
// the report: its state, its name, what the database refused, and what the case found.
require __DIR__ . '/boot.php';

file_put_contents(getenv('APP_REPORT'), '');

// test runs a case. Which rows a statement without ORDER BY gives first is no server's to say: a case sorts them.
function test($name, $run) {
	global $EZSQL_ERROR, $wpdb;
	$EZSQL_ERROR = [];
	$result = null;
	$problems = [];
	wp_cache_flush(); // as another request would find it
	try {
		$result = $run($wpdb);
		if (is_wp_error($result)) {
			$problems[] = $result->get_error_message();
		}
	} catch (Throwable $e) {
		$problems[] = get_class($e) . ': ' . $e->getMessage() . ' ' . $e->getFile() . ':' . $e->getLine();
	}
	foreach ($EZSQL_ERROR ?? [] as $error) {
		if ($name == 'install' && strpos($error['query'], 'DESCRIBE') === 0) { // it asks whether the table is there
			continue;
		}
		$problems[] = $error['error_str'] . ' -- ' . $error['query'];
	}
	$said = $problems ? implode("\n", $problems) : json_encode($result, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_PARTIAL_OUTPUT_ON_ERROR);
	$line = ($problems ? 'failed' : 'passed') . "\t$name\t" . str_replace(["\\", "\n", "\t"], ["\\\\", '\n', ' '], $said) . "\n";
	file_put_contents(getenv('APP_REPORT'), $line, FILE_APPEND);
}

function must($value) {
	if (is_wp_error($value)) {
		throw new Exception($value->get_error_message());
	}
	if (!$value) {
		throw new Exception('it gave ' . var_export($value, true));
	}
	return $value;
}

function sorted($list) { sort($list); return $list; }
function plain($object) { return json_decode(json_encode($object), true); }

define('WP_INSTALLING', true);
require ABSPATH . 'wp-settings.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php';
$wpdb->suppress_errors();
add_filter('pre_http_request', function () { return new WP_Error('off', 'no network'); });

test('install', function () {
	ob_start();
	$made = wp_install('A blog', 'admin', 'admin@example.com', true, '', 'secret');
	ob_end_clean();
	return $made;
});
// The installation is over: what follows is as in other requests.
wp_installing(false);
wp_cache_flush();
wp_load_alloptions();
require_once ABSPATH . 'wp-admin/includes/admin.php';
$GLOBALS['wp_rewrite']->init();
switch_theme('twentytwentythree');
create_initial_taxonomies();
wp_set_current_user(1);

test('install: is it there', function ($wpdb) { return [is_blog_installed(), get_bloginfo('name'), $wpdb->get_col("SHOW TABLES LIKE 'wp\\_%'")]; });
test('install: again, nothing is left to be changed', function () { return dbDelta('all', false); });
test('install: schema as it is seen', function ($wpdb) {
	$out = [];
	foreach ($wpdb->tables('all') as $table) {
		$out[$table] = [$wpdb->get_results("DESCRIBE $table"), array_map(fn ($i) => [$i->Key_name, $i->Seq_in_index, $i->Column_name, $i->Sub_part, $i->Non_unique], $wpdb->get_results("SHOW INDEX FROM $table"))];
	}
	return $out;
});
test('install: upgrade', function () {
	update_option('db_version', 53000);
	wp_upgrade();
	return get_option('db_version');
});
test('options', function () {
	return [
		add_option('o1', ['a' => 1]), add_option('o1', 2), update_option('o1', 'b'), get_option('o1'), delete_option('o1'), get_option('o1', 'none'),
		set_transient('t1', 'x', 100), get_transient('t1'), delete_transient('t1'), set_transient('t2', 'old', -1), delete_expired_transients(true), get_option('_transient_t2', 'gone'),
	];
});

// Users.
$users = [];
test('users: insert', function () use (&$users) {
	$roles = ['subscriber', 'author', 'editor', 'contributor'];
	for ($i = 0; $i < 16; $i++) {
		$users[] = must(wp_insert_user([
			'user_login' => "user$i", 'user_pass' => "pass$i", 'user_email' => "user$i@example.com", 'display_name' => 'Ü ' . $i, 'first_name' => "F$i", 'last_name' => 'L' . ($i % 3),
			'role' => $roles[$i % 4], 'description' => "it's \"$i\" \\ 100%", 'user_url' => "http://u$i.example",
		]));
	}
	return $users;
});
test('users: duplicates are refused by WordPress', function () {
	$codes = [];
	foreach ([['user_login' => 'user1', 'user_email' => 'x@example.com'], ['user_login' => 'new', 'user_email' => 'user1@example.com']] as $u) {
		$codes[] = wp_insert_user($u + ['user_pass' => 'x'])->get_error_code();
	}
	return $codes;
});
test('users: by login, mail, slug, ID', function () use (&$users) {
	return [get_user_by('login', 'user3')->ID, get_user_by('email', 'user4@example.com')->ID, get_user_by('slug', 'user5')->ID, get_user_by('id', $users[6])->user_login, username_exists('user7'), email_exists('nobody@example.com')];
});
test('users: log in', function () {
	return [wp_authenticate('user2', 'pass2')->ID, wp_authenticate('user2', 'wrong')->get_error_code(), wp_authenticate('user9@example.com', 'pass9')->ID];
});
test('users: sessions', function () use (&$users) {
	$sessions = WP_Session_Tokens::get_instance($users[0]);
	$one = $sessions->create(time() + 1000);
	$sessions->create(time() + 2000);
	$n = count($sessions->get_all());
	$sessions->destroy($one);
	return [$n, count($sessions->get_all()), $sessions->destroy_all(), count($sessions->get_all())];
});
test('users: update', function () use (&$users) {
	foreach ([1, 2, 3] as $i) {
		must(wp_update_user(['ID' => $users[$i], 'display_name' => "Changed $i", 'user_email' => "changed$i@example.com", 'role' => 'editor', 'user_pass' => "new$i"]));
	}
	return array_map(fn ($i) => [get_userdata($users[$i])->display_name, get_userdata($users[$i])->roles, wp_authenticate("user$i", "new$i")->ID], [1, 2, 3]);
});
test('users: metadata', function () use (&$users) {
	[$a, $b] = $users;
	$out = [
		add_user_meta($a, 'color', 'red'), add_user_meta($a, 'color', 'blue'), add_user_meta($b, 'color', 'red', true), add_user_meta($b, 'color', 'green', true),
		sorted(get_user_meta($a, 'color')), update_user_meta($a, 'color', 'black', 'red'), sorted(get_user_meta($a, 'color')), delete_user_meta($a, 'color', 'blue'), get_user_meta($a, 'color'),
		update_user_meta($b, 'list', ['x' => [1, 2, null], 'y' => 'ü']), get_user_meta($b, 'list', true), delete_user_meta($b, 'none'), count(get_user_meta($b)),
	];
	return $out;
});
test('users: metadata by its ID', function () use (&$users) {
	$id = must(add_metadata('user', $users[4], 'k', 'v'));
	return [plain(get_metadata_by_mid('user', $id)), update_metadata_by_mid('user', $id, 'w', 'l'), get_user_meta($users[4], 'l', true), delete_metadata_by_mid('user', $id), get_user_meta($users[4], 'l')];
});
test('users: metadata of all', function () use (&$users) {
	foreach (array_slice($users, 0, 8) as $u) {
		add_user_meta($u, 'temporary', "of $u");
	}
	return [delete_metadata('user', 0, 'temporary', '', true), get_user_meta($users[2], 'temporary')];
});
test('users: application passwords', function () use (&$users) {
	[, $item] = WP_Application_Passwords::create_new_application_password($users[5], ['name' => 'app']);
	return [$item['name'], count(WP_Application_Passwords::get_user_application_passwords($users[5])), WP_Application_Passwords::delete_all_application_passwords($users[5])];
});
function counted() {
	$count = count_users();
	ksort($count['avail_roles']);
	return $count;
}
test('users: counted', fn () => [counted(), count_users('memory')['total_users'], count_many_users_posts($users)]);
foreach ([
	'by role' => ['role' => 'editor', 'orderby' => 'ID'], 'roles' => ['role__in' => ['author', 'contributor'], 'orderby' => 'login', 'order' => 'DESC'], 'not' => ['role__not_in' => ['subscriber'], 'orderby' => 'ID'],
	'search' => ['search' => '*user1*', 'search_columns' => ['user_login', 'user_email'], 'orderby' => 'ID'], 'page' => ['number' => 4, 'paged' => 2, 'orderby' => 'user_login', 'count_total' => true],
	'metadata' => ['meta_key' => 'last_name', 'meta_value' => 'L1', 'orderby' => 'ID'], 'two of metadata' => ['meta_query' => ['relation' => 'OR', ['key' => 'color', 'compare' => 'EXISTS'], ['key' => 'first_name', 'value' => ['F7', 'F8'], 'compare' => 'IN']], 'orderby' => 'ID'],
	'ordered by metadata' => ['meta_key' => 'first_name', 'orderby' => 'meta_value', 'order' => 'DESC', 'number' => 5], 'without metadata' => ['meta_query' => [['key' => 'color', 'compare' => 'NOT EXISTS']], 'orderby' => 'ID'],
	'with posts' => ['has_published_posts' => ['post'], 'orderby' => 'ID'], 'by posts' => ['orderby' => ['post_count' => 'DESC', 'ID' => 'ASC']], 'who may' => ['capability' => 'edit_others_posts', 'orderby' => 'ID'],
] as $name => $query) {
	test("users: query $name", function () use ($query) {
		$q = new WP_User_Query($query + ['fields' => 'ID']);
		return [$q->get_results(), $q->get_total()];
	});
}

// Terms.
$terms = [];
test('terms: insert', function () use (&$terms) {
	foreach (['News', 'Sport', 'Ärger'] as $name) {
		$terms[$name] = must(wp_insert_term($name, 'category'))['term_id'];
	}
	$terms['Tennis'] = must(wp_insert_term('Tennis', 'category', ['parent' => $terms['Sport'], 'description' => 'balls']))['term_id'];
	foreach (['red', 'green', 'blue'] as $name) {
		$terms[$name] = must(wp_insert_term($name, 'post_tag'))['term_id'];
	}
	return [$terms, is_wp_error(wp_insert_term('News', 'category'))];
});
test('terms: update, metadata, delete', function () use (&$terms) {
	$gone = must(wp_insert_term('gone', 'post_tag'))['term_id'];
	return [
		wp_update_term($terms['red'], 'post_tag', ['name' => 'Red', 'slug' => 'rot']), add_term_meta($terms['red'], 'hex', 'f00'), get_term_meta($terms['red'], 'hex', true), update_term_meta($terms['red'], 'hex', 'e00'),
		get_terms(['taxonomy' => 'post_tag', 'hide_empty' => false, 'meta_key' => 'hex', 'fields' => 'names']), delete_term_meta($terms['red'], 'hex'), wp_delete_term($gone, 'post_tag'),
	];
});

// Posts.
$posts = [];
test('posts: insert', function () use (&$posts, &$users, &$terms) {
	for ($i = 0; $i < 24; $i++) {
		$posts[] = must(wp_insert_post([
			'post_title' => "Title $i" . ($i % 5 ? '' : ' whale'), 'post_content' => "Content $i, it's \"quoted\" \\ ü 😀 " . ($i % 4 ? 'apple' : 'whale') . str_repeat(' lorem', $i), 'post_excerpt' => "Excerpt $i",
			'post_status' => $i % 6 == 5 ? 'draft' : 'publish', 'post_author' => $users[$i % 6], 'post_date' => sprintf('2025-%02d-%02d 10:00:00', 1 + $i % 12, 1 + $i),
			'post_category' => [$terms[['News', 'Sport', 'Tennis'][$i % 3]]], 'tags_input' => array_slice(['Red', 'green', 'blue'], $i % 3), 'meta_input' => ['rank' => $i, 'color' => $i % 2 ? 'odd' : 'even'],
		], true));
	}
	return $posts;
});
test('posts: same titles get other names', function () {
	$names = [];
	for ($i = 0; $i < 3; $i++) {
		$names[] = get_post(must(wp_insert_post(['post_title' => 'Same', 'post_status' => 'publish', 'post_content' => 'x', 'post_date' => "2025-06-01 00:00:0$i"], true)))->post_name;
	}
	return $names;
});
test('posts: pages', function () use (&$posts) {
	$parent = must(wp_insert_post(['post_type' => 'page', 'post_title' => 'About', 'post_status' => 'publish', 'menu_order' => 2]));
	$child = must(wp_insert_post(['post_type' => 'page', 'post_title' => 'Team', 'post_status' => 'publish', 'post_parent' => $parent]));
	$posts['page'] = $parent;
	return [get_page_by_path('about/team')->ID == $child, get_page_by_title('Team')->ID == $child, get_page_uri($child), wp_list_pluck(get_pages(['sort_column' => 'menu_order,post_title']), 'post_title'), wp_list_pages(['echo' => false]), get_page_children($parent, get_pages())];
});
test('posts: metadata', function () use (&$posts) {
	[$a, $b] = $posts;
	return [
		add_post_meta($a, 'color', 'more'), sorted(get_post_meta($a, 'color')), update_post_meta($a, 'color', 'less', 'more'), delete_post_meta($a, 'color', 'less'), get_post_meta($a, 'color'),
		update_post_meta($b, 'big', str_repeat('x', 100000)), strlen(get_post_meta($b, 'big', true)), delete_post_meta($b, 'big'), add_post_meta($b, 'once', 1, true), add_post_meta($b, 'once', 2, true), metadata_exists('post', $b, 'once'),
	];
});
test('posts: metadata by its ID', function () use (&$posts) {
	$id = must(add_metadata('post', $posts[4], 'k', 'v'));
	return [plain(get_post_meta_by_id($id)), update_meta($id, 'k2', 'w'), get_post_meta($posts[4], 'k2'), delete_meta($id), get_post_meta($posts[4], 'k2'), array_column(has_meta($posts[4]), 'meta_key')];
});
test('posts: metadata of all by its key', function () use (&$posts) {
	foreach (array_slice($posts, 0, 10) as $p) {
		add_post_meta($p, 'temporary', $p);
	}
	return [delete_post_meta_by_key('temporary'), get_post_meta($posts[3], 'temporary'), delete_post_meta_by_key('temporary')];
});
test('posts: keys of metadata', fn ($wpdb) => $wpdb->get_col("SELECT DISTINCT meta_key FROM $wpdb->postmeta WHERE meta_key NOT BETWEEN '_' AND '_z' HAVING meta_key NOT LIKE '\\_%' ORDER BY meta_key LIMIT 30"));
test('posts: edited, with revisions', function () use (&$posts) {
	foreach ([1, 2, 3] as $n) {
		must(wp_update_post(['ID' => $posts[1], 'post_content' => "Edit $n apple", 'post_title' => "Edited $n"], true));
	}
	$revisions = wp_get_post_revisions($posts[1]);
	ksort($revisions);
	$first = array_key_first($revisions);
	return [array_values(wp_list_pluck($revisions, 'post_content')), wp_restore_post_revision($first), get_post($posts[1])->post_content, wp_delete_post_revision($first)->ID == $first, count(wp_get_post_revisions($posts[1]))];
});
test('posts: published, locked, sticky', function () use (&$posts) {
	wp_publish_post($posts[5]);
	stick_post($posts[2]);
	return [get_post_status($posts[5]), wp_set_post_lock($posts[5]), wp_check_post_lock($posts[5]), get_option('sticky_posts'), is_sticky($posts[2])];
});
test('posts: autosave', function () use (&$posts) {
	$id = wp_create_post_autosave(['post_ID' => $posts[7], 'post_type' => 'post', 'post_title' => 'auto', 'content' => 'saved', 'excerpt' => '']);
	return [wp_get_post_autosave($posts[7])->post_content ?? null, is_int($id)];
});
test('posts: to the trash and back', function () use (&$posts) {
	wp_trash_post($posts[8]);
	$was = get_post_status($posts[8]);
	wp_untrash_post($posts[8]);
	wp_trash_post($posts[9]);
	return [$was, get_post_status($posts[8]), get_post_status($posts[9])];
});
test('posts: other author, type, slug', function () use (&$posts, &$users) {
	wp_update_post(['ID' => $posts[10], 'post_author' => $users[7], 'post_name' => 'elsewhere']);
	set_post_type($posts[11], 'page');
	$type = get_post_type($posts[11]);
	set_post_type($posts[11], 'post');
	return [get_post($posts[10])->post_name, get_post($posts[10])->post_author, $type, get_post_meta($posts[10], '_wp_old_slug')];
});
test('posts: attachments', function () use (&$posts) {
	$id = must(wp_insert_attachment(['post_title' => 'Picture', 'post_mime_type' => 'image/png', 'post_status' => 'inherit'], '2025/01/p.png', $posts[1]));
	$posts['picture'] = $id;
	wp_update_attachment_metadata($id, ['width' => 10, 'height' => 20, 'file' => '2025/01/p.png']);
	return [set_post_thumbnail($posts[1], $id), get_post_thumbnail_id($posts[1]) == $id, wp_get_attachment_url($id), attachment_url_to_postid(wp_get_attachment_url($id)) == $id, plain(wp_count_attachments()), count(get_attached_media('image', $posts[1])), $id == (get_children(['post_parent' => $posts[1], 'post_type' => 'attachment', 'fields' => 'ids'])[0] ?? 0)];
});
test('posts: terms', function () use (&$posts, &$terms) {
	return [
		wp_set_post_terms($posts[3], ['fresh', 'Red'], 'post_tag', true) ? sorted(wp_get_post_tags($posts[3], ['fields' => 'names'])) : 0, wp_remove_object_terms($posts[3], 'fresh', 'post_tag'), wp_set_post_categories($posts[3], [$terms['News'], $terms['Sport']]) ? wp_get_post_categories($posts[3]) : 0,
		sorted(array_map(fn ($t) => [$t->name, $t->count], get_terms(['taxonomy' => ['category', 'post_tag'], 'hide_empty' => false]))), sorted(get_objects_in_term($terms['News'], 'category')), is_object_in_term($posts[0], 'category', 'News'), has_tag('Red', $posts[0]), wp_get_object_terms([$posts[0], $posts[1]], ['category', 'post_tag'], ['fields' => 'names', 'orderby' => 'name']),
	];
});
foreach ([
	'latest' => [], 'second page' => ['paged' => 2], 'search' => ['s' => 'whale'], 'search of two words' => ['s' => 'whale lorem', 'orderby' => 'date'], 'phrase' => ['s' => '"apple lorem"'], 'category' => ['category_name' => 'news'], 'category and below' => ['category_name' => 'sport'], 'tags' => ['tag' => 'rot,blue'], 'both tags' => ['tag_slug__and' => ['rot', 'green']],
	'author' => ['author_name' => 'user3'], 'without an author' => ['author__not_in' => [2, 3, 4]], 'metadata' => ['meta_key' => 'color', 'meta_value' => 'odd'], 'number in metadata' => ['meta_query' => [['key' => 'rank', 'value' => [5, 12], 'compare' => 'BETWEEN', 'type' => 'NUMERIC']], 'orderby' => 'meta_value_num', 'meta_key' => 'rank', 'order' => 'ASC'],
	'two of metadata' => ['meta_query' => ['relation' => 'AND', 'r' => ['key' => 'rank', 'type' => 'NUMERIC', 'compare' => '>=', 'value' => 3], ['key' => 'color', 'value' => 'even']], 'orderby' => ['r' => 'DESC']], 'without metadata' => ['meta_query' => [['key' => 'rank', 'compare' => 'NOT EXISTS']], 'post_type' => ['post', 'page'], 'orderby' => 'ID'],
	'month' => ['year' => 2025, 'monthnum' => 3], 'dates' => ['date_query' => [['after' => '2025-04-01', 'before' => '2025-08-31', 'inclusive' => true]]], 'by title' => ['orderby' => 'title', 'order' => 'ASC', 'posts_per_page' => 5], 'by comments' => ['orderby' => ['comment_count' => 'DESC', 'ID' => 'ASC']], 'terms and metadata' => ['tax_query' => ['relation' => 'OR', ['taxonomy' => 'category', 'field' => 'slug', 'terms' => ['tennis']], ['taxonomy' => 'post_tag', 'field' => 'slug', 'terms' => ['green'], 'operator' => 'NOT IN']], 'meta_key' => 'rank', 'orderby' => 'meta_value_num'],
	'any status' => ['post_status' => 'any', 'orderby' => 'ID', 'posts_per_page' => -1], 'drafts' => ['post_status' => ['draft', 'trash'], 'orderby' => 'ID'], 'some' => ['post__in' => [5, 6, 7, 8, 9], 'orderby' => 'post__in', 'post_type' => 'any'], 'all but' => ['post__not_in' => [5, 6], 'offset' => 3, 'posts_per_page' => 4], 'pages' => ['post_type' => 'page', 'orderby' => 'menu_order title'], 'by name' => ['name' => 'title-3'], 'no count' => ['no_found_rows' => true, 'posts_per_page' => 3], 'comments' => ['comment_count' => ['value' => 0, 'compare' => '>'], 'orderby' => 'ID'],
] as $name => $query) {
	test("posts: query $name", function () use ($query) {
		$q = new WP_Query($query);
		return [wp_list_pluck($q->posts, 'ID'), $q->found_posts, $q->max_num_pages];
	});
}
test('posts: neighbours and counts', function () use (&$posts) {
	$GLOBALS['post'] = get_post($posts[6]);
	return [get_previous_post()->ID ?? 0, get_next_post()->ID ?? 0, get_next_post(true)->ID ?? 0, plain(wp_count_posts()), plain(wp_count_posts('page', 'readable')), count_user_posts(3), get_lastpostdate(), get_lastpostmodified(), wp_get_archives(['echo' => 0]), wp_get_archives(['echo' => 0, 'type' => 'postbypost', 'limit' => 5]), wp_list_pluck(wp_get_recent_posts(['numberposts' => 2]), 'ID')];
});

// Comments.
$comments = [];
test('comments: insert', function () use (&$comments, &$posts, &$users) {
	for ($i = 0; $i < 18; $i++) {
		$comments[] = must(wp_insert_comment(wp_slash([
			'comment_post_ID' => $posts[$i % 5], 'comment_content' => "Comment $i whale 'q'", 'comment_author' => "C$i", 'comment_author_email' => "c$i@example.com", 'comment_approved' => $i % 4 == 3 ? '0' : '1', 'user_id' => $i % 3 ? 0 : $users[$i % 6],
			'comment_parent' => $i > 9 ? $comments[$i - 10] : 0, 'comment_date' => sprintf('2025-11-%02d 08:00:00', $i + 1), 'comment_meta' => ['stars' => $i % 5],
		])));
	}
	return $comments;
});
test('comments: as a visitor', function () use (&$posts) {
	wp_set_current_user(0);
	add_filter('comment_flood_filter', '__return_false', 20);
	$new = wp_new_comment(['comment_post_ID' => $posts[2], 'comment_content' => 'From outside', 'comment_author' => 'V', 'comment_author_email' => 'v@example.com', 'comment_author_url' => '', 'comment_type' => 'comment', 'comment_parent' => 0, 'user_id' => 0], true);
	$again = wp_new_comment(['comment_post_ID' => $posts[2], 'comment_content' => 'From outside', 'comment_author' => 'V', 'comment_author_email' => 'v@example.com', 'comment_author_url' => '', 'comment_type' => 'comment', 'comment_parent' => 0, 'user_id' => 0], true);
	wp_set_current_user(1);
	return [must($new), $again->get_error_code(), wp_get_comment_status($new)];
});
test('comments: moderated', function () use (&$comments) {
	[$a, $b, $c, $d] = $comments;
	return [wp_set_comment_status($d, 'approve'), wp_spam_comment($b), wp_get_comment_status($b), wp_unspam_comment($b), wp_trash_comment($c), wp_untrash_comment($c), wp_get_comment_status($c), wp_trash_comment($a), wp_update_comment(['comment_ID' => $d, 'comment_content' => 'changed']), get_comment($d)->comment_content];
});
test('comments: metadata', function () use (&$comments) {
	$c = $comments[4];
	return [add_comment_meta($c, 'k', 'v'), update_comment_meta($c, 'k', 'w'), get_comment_meta($c, 'k'), delete_comment_meta($c, 'k'), get_comment_meta($c)];
});
test('comments: deleted', function () use (&$comments) { return [wp_delete_comment($comments[2], true), get_comment($comments[2]), get_comment($comments[12])->comment_parent]; });
test('comments: counted', fn () => [plain(wp_count_comments()), plain(wp_count_comments($posts[1])), get_comment_count(), get_approved_comments($posts[1], ['fields' => 'ids']), get_lastcommentmodified(), array_map(fn ($p) => get_post($p)->comment_count, array_slice($posts, 0, 5)), get_comments_number($posts[2]), get_pending_comments_num([$posts[0], $posts[1], $posts[2]])]);
foreach ([
	'latest' => ['number' => 5, 'orderby' => ['comment_date_gmt', 'comment_ID']], 'of a post' => ['post_id' => 4], 'search' => ['search' => 'whale', 'orderby' => 'comment_ID'], 'approved' => ['status' => 'approve', 'orderby' => 'comment_ID'], 'metadata' => ['meta_key' => 'stars', 'meta_value' => 3, 'orderby' => 'comment_ID'], 'of authors' => ['post_author' => 2, 'orderby' => 'comment_ID'], 'mail' => ['author_email' => 'c5@example.com'],
	'threaded' => ['hierarchical' => 'threaded', 'orderby' => 'comment_ID', 'order' => 'ASC'], 'status of posts' => ['post_status' => 'publish', 'orderby' => 'comment_ID'], 'counted' => ['no_found_rows' => false, 'number' => 3, 'paged' => 2, 'orderby' => 'comment_ID'], 'parents' => ['parent' => 0, 'orderby' => 'comment_ID'],
] as $name => $query) {
	test("comments: query $name", function () use ($query) {
		$q = new WP_Comment_Query($query);
		return [array_values(wp_list_pluck($q->comments, 'comment_ID')), $q->found_comments];
	});
}

// By the REST interface, and as pages.
function rest($method, $path, $params = []) {
	$request = new WP_REST_Request($method, $path);
	$method == 'GET' ? $request->set_query_params($params) : $request->set_body_params($params);
	$response = rest_do_request($request);
	if ($response->is_error()) {
		throw new Exception($response->as_error()->get_error_message());
	}
	return [$response->get_data(), $response->get_headers()['X-WP-Total'] ?? null];
}
test('rest: posts', fn () => rest('GET', '/wp/v2/posts', ['per_page' => 5, 'search' => 'apple']));
test('rest: users', fn () => rest('GET', '/wp/v2/users', ['context' => 'edit', 'orderby' => 'id', 'search' => 'user1']));
test('rest: comments', fn () => rest('GET', '/wp/v2/comments', ['orderby' => 'id', 'per_page' => 4]));
test('rest: search', fn () => rest('GET', '/wp/v2/search', ['search' => 'whale']));
test('rest: terms', fn () => [rest('GET', '/wp/v2/categories', ['orderby' => 'id']), rest('GET', '/wp/v2/tags', ['post' => $posts[0]])]);
test('rest: write, edit, delete', function () use (&$terms) {
	[$made] = rest('POST', '/wp/v2/posts', ['title' => 'By REST', 'content' => 'rest <b>x</b>', 'status' => 'publish', 'categories' => [$terms['News']]]);
	[$edited] = rest('POST', "/wp/v2/posts/{$made['id']}", ['title' => 'By REST, edited', 'sticky' => true]);
	[$revisions] = rest('GET', "/wp/v2/posts/{$made['id']}/revisions");
	[$comment] = rest('POST', '/wp/v2/comments', ['post' => $made['id'], 'content' => 'Yes', 'author' => 1]);
	[$deleted] = rest('DELETE', "/wp/v2/posts/{$made['id']}", ['force' => true]);
	return [$made['id'], $edited['title'], count($revisions), $comment['id'], $deleted['deleted'], get_comment($comment['id'])];
});
test('rest: menus', function () use (&$posts) {
	$menu = must(wp_create_nav_menu('Main'));
	foreach ([$posts['page'], $posts[0]] as $i => $p) {
		must(wp_update_nav_menu_item($menu, 0, ['menu-item-object-id' => $p, 'menu-item-object' => get_post_type($p), 'menu-item-type' => 'post_type', 'menu-item-status' => 'publish', 'menu-item-position' => $i + 1]));
	}
	$items = wp_list_pluck(wp_get_nav_menu_items($menu), 'title');
	return [$items, wp_delete_nav_menu($menu)];
});
function page($url) {
	$_SERVER['REQUEST_URI'] = $url;
	parse_str(parse_url($url, PHP_URL_QUERY) ?? '', $_GET);
	$_REQUEST = $_GET;
	foreach (['wp_query', 'wp', 'wp_the_query', 'post', 'posts'] as $name) {
		unset($GLOBALS[$name]);
	}
	$GLOBALS['wp_the_query'] = new WP_Query();
	$GLOBALS['wp_query'] = $GLOBALS['wp_the_query'];
	$GLOBALS['wp'] = new WP();
	$GLOBALS['wp_scripts'] = $GLOBALS['wp_styles'] = null;
	wp_set_current_user(0);
	wp();
	ob_start();
	if (is_feed()) {
		@do_feed();
	} else {
		$template = is_singular() ? 'single' : (is_search() ? 'search' : 'index');
		echo do_blocks('<!-- wp:query {"query":{"inherit":true}} --><!-- wp:post-template --><!-- wp:post-title /--><!-- wp:post-author /--><!-- wp:post-excerpt /--><!-- wp:post-terms {"term":"category"} /--><!-- /wp:post-template --><!-- wp:query-pagination --><!-- wp:query-pagination-next /--><!-- /wp:query-pagination --><!-- /wp:query -->');
		echo do_blocks('<!-- wp:latest-comments /--><!-- wp:latest-posts /--><!-- wp:tag-cloud /--><!-- wp:categories {"showPostCounts":true} /--><!-- wp:archives {"showPostCounts":true} /--><!-- wp:calendar /-->');
	}
	$html = ob_get_clean();
	wp_set_current_user(1);
	return [strlen($html) > 200, $GLOBALS['wp_query']->found_posts, $html];
}
foreach (['/', '/?paged=2', '/?s=whale', '/?cat=2', '/?p=6', '/?author=3', '/?m=202503', '/?feed=rss2', '/?feed=comments-rss2', '/?tag=rot', '/?page_id=999'] as $url) {
	test("page $url", fn () => page($url));
}

// What administrators and cron do.
test('export and erase personal data', function () {
	$out = [];
	foreach (['wp_user_personal_data_exporter', 'wp_comments_personal_data_exporter', 'wp_media_personal_data_exporter'] as $f) {
		$out[] = $f('c6@example.com', 1);
	}
	return [$out, wp_comments_personal_data_eraser('c6@example.com')];
});
test('export', function () {
	require_once ABSPATH . 'wp-admin/includes/export.php';
	ob_start();
	@export_wp(['content' => 'all']);
	return sorted(explode("\n", ob_get_clean()));
});
test('cron', function () {
	global $wpdb;
	wp_insert_post(['post_title' => 'Auto', 'post_status' => 'auto-draft', 'post_date' => '2025-01-01 00:00:00']);
	wp_delete_auto_drafts();
	wp_scheduled_delete();
	_wp_batch_update_comment_type();
	wp_schedule_single_event(time() + 100, 'some_hook', ['a']);
	return [$wpdb->get_var("SELECT COUNT(*) FROM $wpdb->posts WHERE post_status = 'auto-draft'"), wp_next_scheduled('some_hook', ['a']) > 0, wp_unschedule_hook('some_hook')];
});
test('lists of the administration', function () {
	set_current_screen('edit-post');
	$out = [];
	foreach (['WP_Posts_List_Table' => 'edit-post', 'WP_Comments_List_Table' => 'edit-comments', 'WP_Users_List_Table' => 'users', 'WP_Terms_List_Table' => 'edit-category', 'WP_Media_List_Table' => 'upload'] as $class => $screen) {
		set_current_screen($screen);
		$table = _get_list_table($class, ['screen' => $screen]);
		ob_start();
		$table->prepare_items();
		$table->views();
		$table->display();
		ob_end_clean();
		$out[] = [$class, $table->get_pagination_arg('total_items')];
	}
	return $out;
});
test('bulk edit', fn () => bulk_edit_posts(['post' => array_slice($posts, 12, 4), '_status' => 'private', 'post_type' => 'post', 'tags_input' => '', 'post_category' => [], 'post_author' => -1, 'comment_status' => '', 'ping_status' => '', 'post_parent' => '', 'post_format' => '', 'sticky' => '', 'page_template' => '']));
test('posts: deleted', function () use (&$posts) {
	return [wp_delete_post($posts[0], true)->ID == $posts[0], get_post($posts[0]), get_post_meta($posts[0]), sorted(get_comments(['post_id' => $posts[0], 'fields' => 'ids'])), wp_delete_attachment($posts['picture'], true)->ID == $posts['picture'], get_post_thumbnail_id($posts[1])];
});
test('users: deleted, posts given to another', function () use (&$users, &$posts) {
	return [wp_delete_user($users[1], $users[2]), get_post($posts[1])->post_author == $users[2], get_userdata($users[1]), get_user_meta($users[1]), wp_delete_user($users[3]), counted()];
});
test('all objects', function ($wpdb) {
	return [array_map(fn ($table) => [$table, $wpdb->get_var("SELECT COUNT(*) FROM $table")], array_values($wpdb->tables('all')))];
});
file_put_contents(getenv('APP_REPORT'), "passed\tend\t\n", FILE_APPEND);
exit(0);
