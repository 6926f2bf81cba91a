<?php
// What a request to the site has before WordPress is loaded: where its database is, and what else is alike at each run.
error_reporting(E_ALL & ~E_DEPRECATED & ~E_WARNING & ~E_NOTICE);
mt_srand(1);
define('ABSPATH', getenv('APP_DIR') . '/');
define('DB_NAME', getenv('APP_DATABASE'));
define('DB_USER', getenv('APP_USER'));
define('DB_PASSWORD', getenv('APP_PASSWORD'));
define('DB_HOST', getenv('APP_HOST') . ':' . getenv('APP_PORT'));
define('DB_CHARSET', 'utf8mb4');
define('DB_COLLATE', '');
foreach (['AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE'] as $name) {
	define($name . '_KEY', $name);
	define($name . '_SALT', $name);
}
define('WP_DEBUG', false);
define('WP_HTTP_BLOCK_EXTERNAL', true);
define('DISABLE_WP_CRON', true);
define('AUTOMATIC_UPDATER_DISABLED', true);
define('SAVEQUERIES', false);
$table_prefix = 'wp_';
$_SERVER['HTTP_HOST'] = 'blog.example';
$_SERVER['SERVER_NAME'] = 'blog.example';
$_SERVER['SERVER_PROTOCOL'] = 'HTTP/1.1';
$_SERVER['REQUEST_METHOD'] = 'GET';
$_SERVER['REQUEST_URI'] = $_SERVER['PHP_SELF'] = $_SERVER['SCRIPT_NAME'] = '/index.php';
$_SERVER['REMOTE_ADDR'] = '192.0.2.1';
$_SERVER['HTTP_USER_AGENT'] = 'cases';

// What is made at random is made alike at each run.
function wp_rand($min = 0, $max = 4294967295) { return mt_rand((int) $min, (int) min($max, mt_getrandmax())); }
function wp_hash_password($password) { return md5($password); }
function wp_check_password($password, $hash, $user_id = '') { return hash_equals($hash, md5($password)); }
function wp_mail($to, $subject, $message, $headers = '', $attachments = []) { return true; }
