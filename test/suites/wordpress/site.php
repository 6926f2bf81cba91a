<?php
// A site that is used while its tables are imported. APP_DO says what this process does: install it; use it until the file of
// APP_STOP is there, noting in the file of APP_JOURNAL what was acknowledged; or check what all journals have noted. What was refused
// is a line of the file of APP_REPORT.
require __DIR__ . '/boot.php';
mt_srand((int) getenv('APP_SEED'));

$do = getenv('APP_DO');
if ($do == 'install') {
	define('WP_INSTALLING', true);
}
require ABSPATH . 'wp-settings.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php';
require_once ABSPATH . 'wp-admin/includes/admin.php';
$wpdb->suppress_errors();
add_filter('pre_http_request', function () { return new WP_Error('off', 'no network'); });

// told notes what the database, or WordPress, has refused since the last time.
function told($by) {
	global $EZSQL_ERROR;
	foreach ($EZSQL_ERROR ?? [] as $error) {
		if ($GLOBALS['do'] != 'install' || strpos($error['query'], 'DESCRIBE') !== 0) { // it asks whether the table is there
			file_put_contents(getenv('APP_REPORT'), str_replace("\n", ' ', "$by: {$error['error_str']} -- {$error['query']}") . "\n", FILE_APPEND);
		}
	}
	$refused = (bool) $EZSQL_ERROR;
	$EZSQL_ERROR = [];
	return $refused;
}

function wrong($what) { file_put_contents(getenv('APP_REPORT'), "wrong: $what\n", FILE_APPEND); }

// noted writes down what was acknowledged: a post with the last value of its metadata, or a user.
function noted($kind, $id, $value) { file_put_contents(getenv('APP_JOURNAL'), "$kind\t$id\t$value\n", FILE_APPEND); }

if ($do == 'install') {
	$EZSQL_ERROR = []; // it has looked for tables that are not there yet
	ob_start();
	wp_install('A blog', 'admin', 'admin@example.com', true, '', 'secret');
	ob_end_clean();
	wp_installing(false);
	told('install');
}
create_initial_taxonomies();
wp_set_current_user(1);

if ($do == 'use') {
	$mine = [];
	for ($n = 0; !file_exists(getenv('APP_STOP')); $n++) {
		wp_cache_flush(); // as another request would find it
		$name = getenv('APP_SEED') . '-' . getmypid() . '-' . $n;
		if ($n % 5 == 0) {
			$id = wp_insert_user(['user_login' => "user$name", 'user_pass' => 'x', 'user_email' => "u$name@example.com", 'display_name' => $name, 'role' => 'author', 'first_name' => $name]);
			if (!told('insert a user') && !is_wp_error($id)) {
				noted('user', $id, $name);
			}
			continue;
		}
		if ($n % 5 == 1 || !$mine) {
			$id = wp_insert_post(['post_title' => "Title $name", 'post_content' => str_repeat("Content $name. ", 20), 'post_status' => 'publish', 'post_author' => 1, 'meta_input' => ['rank' => 0, 'color' => $name]]);
			if (!told('insert a post') && $id) {
				noted('post', $id, 0);
				$mine[$id] = 0;
			}
			continue;
		}
		$id = array_rand($mine);
		if ($n % 5 == 2) {
			wp_insert_comment(['comment_post_ID' => $id, 'comment_content' => "Comment $name", 'comment_author' => 'somebody', 'comment_approved' => 1]);
			told('insert a comment');
			continue;
		}
		if ($n % 5 == 3) {
			$seen = get_post_meta($id, 'rank', true);
			if (!told('read metadata') && (int) $seen !== $mine[$id]) {
				wrong("post $id has the rank " . json_encode($seen) . ", and should have {$mine[$id]}");
			}
			$q = new WP_Query(['meta_key' => 'color', 'posts_per_page' => 5, 'orderby' => 'ID']);
			told('query');
			continue;
		}
		update_post_meta($id, 'rank', $n);
		wp_update_post(['ID' => $id, 'post_content' => "Edited $name"]);
		if (told('update')) {
			unset($mine[$id]); // whether it has the new one nobody has told
			noted('post', $id, 'unknown');
			continue;
		}
		$mine[$id] = $n;
		noted('post', $id, $n);
	}
}

if ($do == 'check') {
	$posts = $users = [];
	foreach (glob(getenv('APP_JOURNAL')) as $file) {
		foreach (file($file, FILE_IGNORE_NEW_LINES) as $line) {
			[$kind, $id, $value] = explode("\t", $line);
			$kind == 'post' ? $posts[$id] = $value : $users[$id] = $value;
		}
	}
	foreach ($posts as $id => $rank) {
		$ranks = $wpdb->get_col("SELECT meta_value FROM $wpdb->postmeta WHERE post_id = $id AND meta_key = 'rank'");
		if (!get_post($id) || count($ranks) != 1 || $rank != 'unknown' && $ranks[0] != $rank) {
			wrong("post $id has the ranks " . json_encode($ranks) . ", and should have $rank");
		}
	}
	foreach ($users as $id => $name) {
		$user = get_userdata($id);
		if (!$user || $user->display_name != $name || $user->first_name != $name || $user->roles != ['author']) {
			wrong("user $id is not as $name was made");
		}
	}
	foreach (['posts p', 'users p'] as $of) {
		$twice = $wpdb->get_col("SELECT p.ID FROM $wpdb->prefix$of GROUP BY p.ID HAVING COUNT(*) > 1");
		if ($twice) {
			wrong("$of: there twice: " . json_encode($twice));
		}
	}
	told('check');
	echo count($posts) . ' posts and ' . count($users) . " users were looked for\n";
}
echo "end\n";
