<?php
// Loads Laravel's database library, which is used without Laravel.
require __DIR__ . '/../scenarios/harness.php';
require '/usr/share/php/Illuminate/Database/autoload.php';

use Illuminate\Database\Capsule\Manager as Capsule;

function connection($options = []) {
	global $endpoint;
	return $options + [
		'driver' => 'mysql', 'host' => $endpoint['host'], 'port' => $endpoint['port'], 'database' => $endpoint['database'], 'username' => $endpoint['user'],
		'password' => $endpoint['password'], 'charset' => 'utf8mb4', 'collation' => 'utf8mb4_unicode_ci', 'prefix' => '', 'strict' => true,
	];
}

$capsule = new Capsule();
$capsule->addConnection(connection());
$capsule->addConnection(connection(['options' => [PDO::ATTR_EMULATE_PREPARES => true]]), 'emulated');
$capsule->setAsGlobal();
$capsule->bootEloquent();
