<?php
// Doctrine on tables that their comments shard: users by their ID, orders and items by their user; tags are global.
require __DIR__ . '/boot.php';

use Doctrine\Common\Collections\ArrayCollection;
use Doctrine\Common\Collections\Criteria;
use Doctrine\DBAL\Connection;
use Doctrine\DBAL\LockMode;
use Doctrine\DBAL\Schema\Comparator;
use Doctrine\DBAL\Schema\Index;
use Doctrine\DBAL\Schema\Table;
use Doctrine\DBAL\Types\Type;
use Doctrine\ORM\Mapping as ORM;
use Doctrine\ORM\Query;
use Doctrine\ORM\Tools\Pagination\Paginator;
use Doctrine\ORM\Tools\SchemaTool;

#[ORM\Entity] #[ORM\Table(name: 'users', options: ['comment' => 'locus: owner=id'])]
class User {
	#[ORM\Id] #[ORM\GeneratedValue] #[ORM\Column(type: 'bigint')] public $id;
	#[ORM\Column(length: 40)] public $name;
	#[ORM\Column(type: 'integer', nullable: true)] public $age;
	#[ORM\Column(type: 'boolean')] public $active = true;
	#[ORM\OneToMany(targetEntity: Purchase::class, mappedBy: 'user', cascade: ['persist', 'remove'])] #[ORM\OrderBy(['amount' => 'ASC'])] public $orders;
	#[ORM\ManyToMany(targetEntity: Tag::class)] #[ORM\JoinTable(name: 'user_tags', options: ['comment' => 'locus: owner=user_id'])] public $tags;
	public function __construct($name, $age = null) { [$this->name, $this->age, $this->orders, $this->tags] = [$name, $age, new ArrayCollection(), new ArrayCollection()]; }
}
#[ORM\Entity] #[ORM\Table(name: 'orders', options: ['comment' => 'locus: owner=user_id'])]
class Purchase {
	#[ORM\Id] #[ORM\GeneratedValue] #[ORM\Column(type: 'bigint')] public $id;
	#[ORM\ManyToOne(targetEntity: User::class, inversedBy: 'orders')] #[ORM\JoinColumn(nullable: false)] public $user;
	#[ORM\Column(length: 16)] public $status = 'new';
	#[ORM\Column(type: 'decimal', precision: 12, scale: 2)] public $amount;
	#[ORM\Column(type: 'integer')] #[ORM\Version] public $version;
	#[ORM\OneToMany(targetEntity: Item::class, mappedBy: 'order', cascade: ['persist', 'remove'])] #[ORM\OrderBy(['sku' => 'ASC'])] public $items;
	public function __construct($user, $amount, $status = 'new') { [$this->user, $this->amount, $this->status, $this->items] = [$user, $amount, $status, new ArrayCollection()]; $user->orders[] = $this; }
}
#[ORM\Entity] #[ORM\Table(name: 'items', options: ['comment' => 'locus: owner=user_id'])]
class Item {
	#[ORM\Id] #[ORM\GeneratedValue] #[ORM\Column(type: 'bigint')] public $id;
	#[ORM\ManyToOne(targetEntity: User::class)] #[ORM\JoinColumn(nullable: false)] public $user;
	#[ORM\ManyToOne(targetEntity: Purchase::class, inversedBy: 'items')] #[ORM\JoinColumn(nullable: false)] public $order;
	#[ORM\Column(length: 30)] public $sku;
	#[ORM\Column(type: 'integer')] public $quantity = 1;
	public function __construct($order, $sku, $quantity) { [$this->user, $this->order, $this->sku, $this->quantity] = [$order->user, $order, $sku, $quantity]; $order->items[] = $this; }
}
#[ORM\Entity] #[ORM\Table(name: 'tags', options: ['comment' => 'locus: global'])]
class Tag {
	#[ORM\Id] #[ORM\GeneratedValue] #[ORM\Column(type: 'bigint')] public $id;
	#[ORM\Column(length: 20, unique: true)] public $name;
	public function __construct($name) { $this->name = $name; }
}

// Doctrine's definitions, without the foreign keys that do not contain the owner, and with the join table's comment, which it leaves out.
$schema = (new SchemaTool($em = manager()))->getSchemaFromMetadata(array_map([$em, 'getClassMetadata'], [User::class, Purchase::class, Item::class, Tag::class]));
foreach ($schema->getTables() as $table) {
	foreach ($table->getForeignKeys() as $key) {
		if ($key->getForeignTableName() !== 'users') {
			$table->removeForeignKey($key->getName());
		}
	}
}
$schema->getTable('user_tags')->addOption('comment', 'locus: owner=user_id');
foreach ($schema->toSql($em->getConnection()->getDatabasePlatform()) as $statement) {
	$em->getConnection()->executeStatement($statement);
}

// people makes users of a case, each with as many orders as its place in the list, of two items each.
function people($em, $kind, $n = 6) {
	$users = [];
	for ($i = 0; $i < $n; $i++) {
		$em->persist($users[] = $user = new User("$kind$i", $i == 3 ? null : 20 + $i));
		for ($k = 0; $k < $i; $k++) {
			$order = new Purchase($user, sprintf('%.2f', 1.25 * ($k + 1)), $k % 2 ? 'paid' : 'new');
			new Item($order, "$kind-$i-$k-0", 1);
			new Item($order, "$kind-$i-$k-1", 2);
		}
	}
	$em->flush();
	$em->clear();
	return $users;
}
function dql($em, $text, $parameters = []) { return $em->createQuery($text)->setParameters($parameters); }
function all($em, $kind) { return dql($em, 'SELECT u FROM User u WHERE u.name LIKE ?1 ORDER BY u.name', [1 => "$kind%"])->getResult(); }
function names($users) { return array_map(fn ($u) => $u->name, $users); }
function ids($users) { return array_map(fn ($u) => $u->id, $users); }
function on($name, $run, $driver = 'pdo_mysql') { test($name, fn () => $run($em = manager($driver), $em->getConnection())); }

on('persist, find, refresh, update, remove', function ($em) {
	$em->persist($u = new User('persist', 5));
	$em->flush();
	$out = [$u->id > 0, $em->find(User::class, $u->id) === $u];
	$em->clear();
	$u = $em->getRepository(User::class)->findOneBy(['name' => 'persist']);
	$out[] = [$u->age, $u->active, $em->find(User::class, -1), $em->getRepository(User::class)->count(['name' => 'persist'])];
	$u->age = 6;
	$em->flush();
	$em->getConnection()->update('users', ['age' => 7], ['id' => $u->id]);
	$em->refresh($u);
	$out[] = $u->age;
	$em->remove($u);
	$em->flush();
	return [...$out, $em->getRepository(User::class)->findBy(['name' => 'persist'])];
});
on('a unit of work of many, batches and iteration', function ($em) {
	for ($i = 0; $i < 20; $i++) {
		$em->persist(new User("unit$i", $i));
		if ($i % 6 == 5) {
			$em->flush();
			$em->clear();
		}
	}
	$em->flush();
	foreach (dql($em, "SELECT u FROM User u WHERE u.name LIKE 'unit%'")->toIterable() as $u) {
		$u->age += 100;
	}
	$em->flush();
	$em->clear();
	return array_map(fn ($u) => [$u->name, $u->age], all($em, 'unit'));
});
on('repositories: findBy, criteria, lazy proxies', function ($em) {
	people($em, 'repo');
	$users = $em->getRepository(User::class);
	$found = $users->matching(Criteria::create()->where(Criteria::expr()->andX(Criteria::expr()->startsWith('name', 'repo'), Criteria::expr()->gt('age', 21)))->orderBy(['age' => 'DESC'])->setMaxResults(2));
	$lazy = [];
	foreach ($em->getRepository(Item::class)->findBy(['quantity' => 2, 'user' => ids(all($em, 'repo'))], ['sku' => 'ASC'], 4, 1) as $item) {
		$lazy[] = [$item->sku, $item->order->amount, $item->order->user->name];
	}
	$u = $users->findOneBy(['name' => 'repo4']);
	$out = [names($users->findBy(['name' => ['repo1', 'repo5', 'none']], ['name' => 'DESC'])), names($found->toArray()), $lazy, count($u->orders), $u->orders->first()->amount];
	$em->clear();
	$u = $users->findOneBy(['name' => 'repo5']);
	return [...$out, $u->orders->matching(Criteria::create()->where(Criteria::expr()->eq('status', 'paid')))->count(), $em->getReference(User::class, $u->id)->name];
});
on('DQL: where, in, member of, exists, functions', function ($em) {
	people($em, 'where');
	$q = fn ($where, $p = []) => array_column(dql($em, "SELECT u.name FROM User u WHERE u.name LIKE 'where%' AND ($where) ORDER BY u.name", $p)->getScalarResult(), 'name');
	return [
		$q('u.age > :a', ['a' => 22]), $q('u.age IS NULL'), $q('u.age BETWEEN 21 AND 24'), $q('u.name IN (:n)', ['n' => ['where1', 'where5']]), $q('NOT u.age = 22'), $q('u.age = 20 OR u.age = 25'), $q('MOD(u.age, 2) = 1'), $q('u.active = true'), $q('LENGTH(u.name) = 6'),
		$q('SIZE(u.orders) > 3'), $q('u.orders IS EMPTY'), $q('EXISTS (SELECT o.id FROM Purchase o WHERE o.user = u AND o.amount > 3)'), $q('u.id IN (SELECT IDENTITY(p.user) FROM Purchase p WHERE p.status = :s)', ['s' => 'paid']), $q("CONCAT(u.name, '!') = 'where2!'"), $q('u.age > ALL (SELECT v.age FROM User v WHERE v.name IN (:n))', ['n' => ['where1', 'where2']]),
	];
});
on('DQL: joins, fetch joins, partial, new, index by', function ($em) {
	people($em, 'join', 5);
	$users = dql($em, "SELECT u, o, i FROM User u LEFT JOIN u.orders o LEFT JOIN o.items i WHERE u.name LIKE 'join%' ORDER BY u.name, o.amount, i.sku")->getResult();
	$out = [array_map(fn ($u) => [$u->name, $u->orders->map(fn ($o) => [$o->amount, $o->items->map(fn ($i) => $i->sku)->toArray()])->toArray()], $users)];
	$out[] = dql($em, "SELECT i.sku, o.status, u.name FROM Item i JOIN i.order o JOIN o.user u WHERE u.name LIKE 'join%' ORDER BY i.sku")->getArrayResult();
	$out[] = dql($em, "SELECT u.name, o.amount FROM User u JOIN u.orders o WITH o.status = 'paid' WHERE u.name LIKE 'join%' ORDER BY u.name, o.amount")->getScalarResult();
	$out[] = dql($em, "SELECT a.name AS x, b.name AS y FROM User a JOIN User b WITH b.age = a.age + 1 WHERE a.name LIKE 'join%' AND b.name LIKE 'join%' ORDER BY x")->getArrayResult();
	return [...$out, array_keys(dql($em, "SELECT u FROM User u INDEX BY u.name WHERE u.name LIKE 'join%' ORDER BY u.name")->getResult())];
});
on('DQL: aggregates, groups, having, case', function ($em) {
	people($em, 'group');
	$q = fn ($text) => dql($em, $text)->getArrayResult();
	return [
		$q("SELECT COUNT(u) AS n, SUM(u.age) AS s, AVG(u.age) AS a, MIN(u.name) AS lo, MAX(u.age) AS hi, COUNT(DISTINCT u.active) AS k FROM User u WHERE u.name LIKE 'group%'"),
		$q("SELECT u.name, COUNT(o) AS n, SUM(o.amount) AS s FROM User u LEFT JOIN u.orders o WHERE u.name LIKE 'group%' GROUP BY u.name HAVING COUNT(o) > 1 ORDER BY n DESC"),
		$q("SELECT o.status, SUM(o.amount) AS s FROM Purchase o JOIN o.user u WHERE u.name LIKE 'group%' GROUP BY o.status ORDER BY o.status"), $q("SELECT DISTINCT o.amount FROM Purchase o JOIN o.user u WHERE u.name LIKE 'group%' ORDER BY o.amount"),
		$q("SELECT u.name, CASE WHEN u.age > 23 THEN 'old' WHEN u.age IS NULL THEN 'unknown' ELSE 'young' END AS kind, COALESCE(u.age, 0) AS years FROM User u WHERE u.name LIKE 'group%' ORDER BY u.name"),
		$q("SELECT u.name, (SELECT MAX(o.amount) FROM Purchase o WHERE o.user = u) AS top FROM User u WHERE u.name LIKE 'group%' ORDER BY u.name"),
	];
});
on('DQL: update and delete', function ($em) {
	$ids = ids(people($em, 'change'));
	$run = fn ($text, $p = []) => dql($em, $text, $p)->execute();
	$out = [$run("UPDATE User u SET u.age = u.age + 1, u.active = false WHERE u.name LIKE 'change%' AND u.age > 21"), $run("UPDATE Purchase o SET o.status = 'x' WHERE o.user IN (:u) AND o.amount > 2", ['u' => $ids]), $run("DELETE FROM Item i WHERE i.user IN (SELECT u.id FROM User u WHERE u.name LIKE 'change%')"), $run('DELETE FROM Purchase o WHERE o.user IN (:u) AND o.amount > 5', ['u' => $ids])];
	return [...$out, dql($em, "SELECT u.name, u.age, u.active FROM User u WHERE u.name LIKE 'change%' ORDER BY u.name")->getArrayResult(), dql($em, 'SELECT o.amount, o.status FROM Purchase o WHERE o.user IN (:u) ORDER BY o.amount', ['u' => $ids])->getScalarResult()];
});
on('many to many by a global table', function ($em) {
	$users = people($em, 'tagged', 4);
	$tags = array_map(function ($n) use ($em) { $em->persist($t = new Tag("tagged-$n")); return $t; }, ['a', 'b', 'c']);
	foreach (all($em, 'tagged') as $i => $u) {
		foreach (array_slice($tags, 0, $i) as $t) {
			$u->tags[] = $t;
		}
	}
	$em->flush();
	$em->clear();
	$shape = fn () => array_map(function ($u) { $n = names($u->tags->toArray()); sort($n); return $n; }, all($em, 'tagged'));
	$out = [$shape()];
	$users = all($em, 'tagged');
	$users[3]->tags->clear();
	$users[2]->tags->remove(0);
	$em->flush();
	$em->clear();
	$out[] = array_map('count', $shape());
	return [...$out, dql($em, "SELECT u.name AS x, t.name AS y FROM User u JOIN u.tags t WHERE t.name LIKE 'tagged%' ORDER BY x, y")->getArrayResult()];
});
on('pages: paginator, limits', function ($em) {
	people($em, 'page', 7);
	$page = new Paginator(dql($em, "SELECT u, o FROM User u LEFT JOIN u.orders o WHERE u.name LIKE 'page%' ORDER BY u.name")->setFirstResult(2)->setMaxResults(3));
	$plain = new Paginator(dql($em, "SELECT u FROM User u WHERE u.name LIKE 'page%' ORDER BY u.age DESC, u.name")->setFirstResult(4)->setMaxResults(2), false);
	$shape = fn ($p) => [count($p), array_map(fn ($u) => [$u->name, count($u->orders)], iterator_to_array($p))];
	return [$shape($page), $shape($plain), names(dql($em, "SELECT u FROM User u WHERE u.name LIKE 'page%' AND u.name > 'page4' ORDER BY u.name")->setMaxResults(1)->getResult()), refused(fn () => dql($em, "SELECT u FROM User u WHERE u.name LIKE 'page%'")->getSingleResult())];
});
on('transactions and nested savepoints over several users', function ($em, $db) {
	$ids = ids(people($em, 'trx', 4));
	$ages = fn () => $db->fetchFirstColumn("SELECT age FROM users WHERE name LIKE 'trx%' ORDER BY name");
	$set = fn ($i, $age) => $db->update('users', ['age' => $age], ['id' => $ids[$i]]);
	$out = [refused(fn () => $db->transactional(function () use ($set) { foreach ([0, 1, 2, 3] as $i) $set($i, 1); throw new Exception('back'); })), $ages()];
	$db->transactional(function ($db) use ($set, $ages, &$out) {
		$set(0, 50);
		$db->beginTransaction();
		$set(1, 51);
		$db->beginTransaction();
		$set(2, 52);
		$set(0, 52);
		$db->rollBack();
		$set(3, 53);
		$db->commit();
		$out[] = [$ages(), $db->getTransactionNestingLevel()];
	});
	$db->setTransactionIsolation(Doctrine\DBAL\TransactionIsolationLevel::READ_COMMITTED);
	$em->wrapInTransaction(function ($em) { foreach (all($em, 'trx') as $u) $u->age++; });
	return [...$out, $ages(), $db->isTransactionActive()];
});
on('optimistic and pessimistic locks', function ($em) {
	people($em, 'lock', 3);
	[$o] = dql($em, "SELECT o FROM Purchase o JOIN o.user u WHERE u.name = 'lock1'")->getResult();
	$em->getConnection()->executeStatement('UPDATE orders SET version = version + 1 WHERE id = ?', [$o->id]);
	$o->status = 'late';
	$out = [refused(fn () => $em->flush())[0]];
	$em = manager();
	return [...$out, $em->wrapInTransaction(function ($em) use ($o) {
		$found = $em->find(Purchase::class, $o->id, LockMode::PESSIMISTIC_WRITE);
		$em->lock($found->user, LockMode::PESSIMISTIC_READ);
		return [$found->status, $found->version, names(dql($em, "SELECT u FROM User u WHERE u.name LIKE 'lock%' ORDER BY u.age")->setLockMode(LockMode::PESSIMISTIC_WRITE)->getResult())];
	})];
});
$dbal = function ($em, $db) {
	$kind = 'dbal' . substr(get_class($db->getDriver()), 21, 3);
	$ids = ids(people($em, $kind, 4));
	$q = $db->createQueryBuilder()->select('u.name', 'SUM(o.amount) AS s')->from('users', 'u')->leftJoin('u', 'orders', 'o', 'o.user_id = u.id')->where('u.id IN (:ids)')->setParameter('ids', $ids, Connection::PARAM_INT_ARRAY)->groupBy('u.id', 'u.name')->orderBy('u.name')->setMaxResults(3)->setFirstResult(1);
	$find = $db->prepare('SELECT name, age, active FROM users WHERE id = ? AND (age > ? OR age IS NULL)');
	$out = [$q->fetchAllAssociative(), array_map(fn ($id) => $find->executeQuery([$id, 20])->fetchAllNumeric(), $ids), $db->insert('user_tags', ['user_id' => $ids[0], 'tag_id' => 77]), $db->executeStatement('INSERT IGNORE INTO user_tags (user_id, tag_id) VALUES (?, ?), (?, ?)', [$ids[0], 77, $ids[1], 77])];
	$out[] = $db->executeStatement('INSERT INTO users (id, name, active) VALUES (?, ?, 1) ON DUPLICATE KEY UPDATE name = VALUES(name)', [$ids[2], "{$kind}2x"]);
	$out[] = iterator_to_array($db->iterateKeyValue("SELECT name, age FROM users WHERE name LIKE '$kind%' ORDER BY name"));
	return [...$out, $db->delete('user_tags', ['tag_id' => 77]), $db->fetchOne('SELECT COUNT(*) FROM user_tags WHERE tag_id = 77'), $db->fetchAllAssociativeIndexed("SELECT name, age FROM users WHERE name LIKE '$kind%' ORDER BY name"), $db->quote("it's \\")];
};
on('DBAL by PDO: builder, prepared statements, fetches', $dbal);
on('DBAL by mysqli: builder, prepared statements, fetches', $dbal, 'mysqli');
on('errors', function ($em, $db) {
	$em->persist(new Tag('error'));
	$em->flush();
	$kind = fn ($run) => (function () use ($run) { try { $run(); } catch (Throwable $e) { return [get_class($e), $e->getMessage()]; } throw new Exception('no error'); })();
	return [$kind(fn () => $db->insert('tags', ['name' => 'error'])), $kind(fn () => $db->fetchOne('SELEC 1')), $kind(fn () => $db->fetchOne('SELECT 1 FROM missing')), $kind(fn () => $db->fetchOne('SELECT missing FROM users')), $kind(fn () => $db->insert('users', ['name' => null, 'active' => 1])), $kind(fn () => $db->insert('orders', ['user_id' => 123456789, 'amount' => 1, 'status' => 'x', 'version' => 1]))];
});
on('types', function ($em, $db) {
	$t = new Table('kinds');
	$types = ['user_id' => 'bigint', 'text' => 'text', 'bin' => 'blob', 'dbl' => 'float', 'exact' => 'decimal', 'at' => 'datetime_immutable', 'day' => 'date_immutable', 'clock' => 'time_immutable', 'js' => 'json', 'flag' => 'boolean', 'list' => 'simple_array', 'guid' => 'guid'];
	foreach ($types as $name => $type) {
		$t->addColumn($name, $type, $name == 'exact' ? ['precision' => 20, 'scale' => 6] : []);
	}
	$t->setPrimaryKey(['user_id']);
	$t->addOption('comment', 'locus: owner=user_id');
	$t->addOption('charset', 'utf8mb4');
	$db->createSchemaManager()->createTable($t);
	for ($i = 1; $i <= 4; $i++) {
		$db->insert('kinds', ['user_id' => $i, 'text' => "ä€😀\\" . str_repeat("'", $i), 'bin' => "b'\\$i", 'dbl' => 1.5 * $i, 'exact' => '12345678901234.123456', 'at' => new DateTimeImmutable("2026-02-03 0$i:00:00"), 'day' => new DateTimeImmutable('2026-02-03'), 'clock' => new DateTimeImmutable('2026-02-03 01:02:03'), 'js' => ['i' => $i], 'flag' => $i > 2, 'list' => ['a', 'b'], 'guid' => "6f1c2d3e-0000-4000-8000-00000000000$i"], $types);
	}
	$rows = array_map(fn ($r) => array_map(fn ($v, $k) => is_resource($x = $db->convertToPHPValue($v, $types[$k])) ? stream_get_contents($x) : ($x instanceof DateTimeInterface ? $x->format('c') : $x), $r, array_keys($r)), $db->fetchAllAssociative('SELECT * FROM kinds ORDER BY user_id'));
	$out = [$rows, $db->fetchNumeric('SELECT COUNT(*), SUM(exact), MAX(at) FROM kinds')];
	$db->createSchemaManager()->dropTable('kinds');
	return $out;
});
on('schema manager: create, compare, alter, rename, drop a sharded table', function ($em, $db) {
	$sm = $db->createSchemaManager();
	$t = new Table('parcels');
	$t->addColumn('id', 'integer', ['autoincrement' => true]);
	$t->addColumn('user_id', 'bigint');
	$t->addColumn('note', 'string', ['length' => 20, 'notnull' => false]);
	$t->setPrimaryKey(['id']);
	$t->addForeignKeyConstraint('users', ['user_id'], ['id'], [], 'parcel_user');
	$t->addOption('comment', 'locus: owner=user_id');
	$sm->createTable($t);
	foreach (ids(people($em, 'parcel', 4)) as $i => $id) {
		$db->executeStatement('INSERT INTO parcels (user_id, note) VALUES (?, ?), (?, ?)', [$id, "{$i}a", $id, "{$i}b"]);
	}
	$from = $sm->introspectTable('parcels');
	$to = clone $from;
	$to->addColumn('weight', 'integer', ['default' => 7]);
	$to->addIndex(['weight', 'note'], 'by_weight');
	$to->getColumn('note')->setLength(60);
	$comparator = $sm->createComparator();
	$sm->alterTable($comparator->compareTables($from, $to));
	$shape = function ($name) use ($sm) {
		$t = $sm->introspectTable($name);
		$columns = array_map(fn ($c) => [$c->getName(), $c->getType()->getName(), $c->getLength(), $c->getNotnull(), $c->getDefault(), $c->getAutoincrement()], array_values($t->getColumns()));
		$indexes = array_map(fn ($i) => [$i->getName(), $i->getColumns(), $i->isUnique()], array_values($t->getIndexes()));
		sort($columns);
		sort($indexes);
		return [$columns, $indexes, array_map(fn ($k) => [$k->getName(), $k->getLocalColumns(), $k->getForeignTableName()], array_values($t->getForeignKeys())), $t->getComment()];
	};
	$out = [$shape('parcels'), $comparator->compareTables($sm->introspectTable('parcels'), $to)->isEmpty(), $db->executeStatement("UPDATE parcels SET weight = 8 WHERE note > '2'"), $db->fetchAllNumeric('SELECT note, weight FROM parcels ORDER BY note')];
	$sm->renameTable('parcels', 'crates');
	$from = $sm->introspectTable('crates');
	$to = clone $from;
	$to->dropIndex('by_weight');
	$to->dropColumn('weight');
	$sm->alterTable($comparator->compareTables($from, $to));
	$out[] = [$shape('crates'), $sm->tablesExist(['parcels']), $db->fetchOne('SELECT COUNT(*) FROM crates')];
	$names = array_map(fn ($t) => $t->getName(), $sm->listTables());
	sort($names);
	$sm->dropTable('crates');
	return [...$out, $names, $sm->tablesExist(['crates'])];
});
on('schema tool: nothing to update after creation', function ($em) {
	$classes = array_map([$em, 'getClassMetadata'], [User::class, Tag::class]);
	return array_filter((new SchemaTool($em))->getUpdateSchemaSql($classes, true), fn ($sql) => !str_starts_with($sql, 'ALTER TABLE user_tags') && !str_starts_with($sql, 'CREATE'));
});
finish();
