<?php
// Loads Doctrine's mapper and its database layer.
require __DIR__ . '/../scenarios/harness.php';
require '/usr/share/php/Doctrine/ORM/autoload.php';

use Doctrine\DBAL\DriverManager;
use Doctrine\ORM\Configuration;
use Doctrine\ORM\EntityManager;
use Doctrine\ORM\Mapping\Driver\AttributeDriver;
use Doctrine\ORM\Mapping\UnderscoreNamingStrategy;

$configuration = new Configuration();
$configuration->setMetadataDriverImpl(new AttributeDriver([]));
$configuration->setProxyDir(sys_get_temp_dir());
$configuration->setProxyNamespace('Proxies');
$configuration->setAutoGenerateProxyClasses(2 + 1); // evaluated, without files
$configuration->setNamingStrategy(new UnderscoreNamingStrategy(CASE_LOWER));
$parameters = [
	'driver' => 'pdo_mysql', 'host' => $endpoint['host'], 'port' => $endpoint['port'], 'user' => $endpoint['user'], 'password' => $endpoint['password'],
	'dbname' => $endpoint['database'], 'charset' => 'utf8mb4',
];

// manager makes an entity manager with a connection of its own: one is closed by an error.
function manager($driver = 'pdo_mysql') {
	global $configuration, $parameters;
	$connection = DriverManager::getConnection(['driver' => $driver] + $parameters, $configuration);
	$connection->setNestTransactionsWithSavepoints(true);
	return new EntityManager($connection, $configuration);
}
