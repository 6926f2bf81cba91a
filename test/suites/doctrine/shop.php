<?php
// Doctrine on the shop's tables, whose IDs and order numbers the proxy generates.
require __DIR__ . '/boot.php';

use Doctrine\Common\Collections\ArrayCollection;
use Doctrine\DBAL\LockMode;
use Doctrine\ORM\Mapping as ORM;
use Doctrine\ORM\Tools\Pagination\Paginator;

#[ORM\Entity] #[ORM\Table(name: 'test_order')]
class Purchase {
	#[ORM\Id] #[ORM\GeneratedValue] #[ORM\Column(name: 'order_id', type: 'bigint')] public $id;
	#[ORM\Column(name: 'order_no', type: 'bigint', insertable: false, updatable: false, generated: 'INSERT')] public $number;
	#[ORM\Column(name: 'buyer_uid', type: 'bigint')] public $buyer;
	#[ORM\Column(type: 'decimal', precision: 12, scale: 2)] public $amount = '12.50';
	#[ORM\Column(length: 16)] public $status = 'new';
	#[ORM\Column(type: 'bigint', insertable: false, updatable: false, generated: 'ALWAYS')] public $version;
	#[ORM\OneToMany(targetEntity: Item::class, mappedBy: 'order')] public $items;
	public function __construct($buyer) { [$this->buyer, $this->items] = [$buyer, new ArrayCollection()]; }
}
#[ORM\Entity] #[ORM\Table(name: 'order_item')]
class Item {
	#[ORM\Id] #[ORM\GeneratedValue] #[ORM\Column(name: 'item_id', type: 'bigint')] public $id;
	#[ORM\ManyToOne(targetEntity: Purchase::class, inversedBy: 'items')] #[ORM\JoinColumn(name: 'order_id', referencedColumnName: 'order_id')] public $order;
	#[ORM\ManyToOne(targetEntity: Product::class)] #[ORM\JoinColumn(name: 'product_id', referencedColumnName: 'product_id')] public $product;
	#[ORM\Column(type: 'integer')] public $quantity;
	#[ORM\Column(type: 'decimal', precision: 12, scale: 2)] public $price;
	public function __construct($order, $product, $quantity) { [$this->order, $this->product, $this->quantity, $this->price] = [$order, $product, $quantity, $product->price]; }
}
#[ORM\Entity] #[ORM\Table(name: 'product')]
class Product {
	#[ORM\Id] #[ORM\Column(name: 'product_id', type: 'bigint')] public $id;
	#[ORM\Column(length: 64)] public $name;
	#[ORM\Column(type: 'decimal', precision: 12, scale: 2)] public $price;
	public function __construct($id) { [$this->id, $this->name, $this->price] = [$id, "p$id", "$id.00"]; }
}

$next = 12000;
function buyers($n) {
	global $next;
	$next += $n;
	return range($next - $n, $next - 1);
}
function ordered($em, $list) {
	$all = array_map(function ($b) use ($em) { $em->persist($o = new Purchase($b)); return $o; }, $list);
	$em->flush();
	return $all;
}
function dql($em, $text, $parameters) { return $em->createQuery($text)->setParameters($parameters); }
function on($name, $run) { test($name, fn () => $run($em = manager(), $em->getConnection())); }

on('generated IDs and numbers come back, and find the order, as does the owner', function ($em) {
	$all = ordered($em, buyers(8));
	foreach ($all as $o) {
		equal([$o->id > 2 ** 40, $o->number > 0, (int) $o->version], [true, true, 1]);
		foreach (['buyer' => $o->buyer, 'number' => $o->number, 'id' => $o->id] as $field => $value) {
			equal($em->getRepository(Purchase::class)->findOneBy([$field => $value]), $o);
		}
	}
	equal(count(array_unique(array_map(fn ($o) => $o->id, $all))), 8);
});
on('update, remove, refused writes', function ($em) {
	[$o, $other] = ordered($em, buyers(2));
	$o->status = 'paid';
	$em->flush();
	equal([(int) $o->version, dql($em, 'UPDATE Purchase o SET o.amount = o.amount + 1 WHERE o.id = ?1', [1 => $o->id])->execute()], [2, 1]);
	$em->refresh($o);
	equal([$o->status, $o->amount, (int) $o->version], ['paid', '13.50', 3]);
	$id = $o->id;
	$em->remove($o);
	$em->flush();
	equal([$em->find(Purchase::class, $id), dql($em, 'DELETE FROM Purchase o WHERE o.buyer = ?1', [1 => $other->buyer])->execute()], [null, 1]);
	equal(str_contains(json_encode(refused(fn () => dql($em, 'DELETE FROM Purchase o WHERE o.status = ?1', [1 => 'none'])->execute())), 'locus-'), true);
});
on('items of orders: fetch joins, groups, products', function ($em) {
	$products = array_map(function ($id) use ($em) { $em->persist($p = new Product($id)); return $p; }, [1, 2, 3]);
	$list = buyers(6);
	foreach (ordered($em, $list) as $i => $o) {
		foreach ($products as $p) {
			$em->persist(new Item($o, $p, $i));
		}
	}
	$em->flush();
	$em->clear();
	$orders = dql($em, 'SELECT o, i, p FROM Purchase o JOIN o.items i JOIN i.product p WHERE o.buyer IN (:b) ORDER BY o.buyer, p.id', ['b' => $list])->getResult();
	equal(array_map(fn ($o) => $o->items->map(fn ($i) => [$i->product->name, $i->quantity])->toArray(), $orders), array_map(fn ($i) => [['p1', $i], ['p2', $i], ['p3', $i]], range(0, 5)));
	$sums = dql($em, 'SELECT p.name, SUM(i.quantity * i.price) AS s FROM Item i JOIN i.product p JOIN i.order o WHERE o.buyer IN (:b) GROUP BY p.name ORDER BY p.name', ['b' => $list])->getScalarResult();
	equal(array_column($sums, 's', 'name'), ['p1' => '15.00', 'p2' => '30.00', 'p3' => '45.00']);
	$em->clear();
	$lazy = $em->getRepository(Purchase::class)->findOneBy(['buyer' => $list[4]]);
	equal([count($lazy->items), array_sum($lazy->items->map(fn ($i) => $i->product->id)->toArray())], [3, 6]);
	$page = new Paginator(dql($em, 'SELECT o, i FROM Purchase o JOIN o.items i WHERE o.buyer IN (:b) ORDER BY o.buyer', ['b' => $list])->setFirstResult(2)->setMaxResults(3));
	equal([count($page), array_map(fn ($o) => [(int) $o->buyer, count($o->items)], iterator_to_array($page))], [6, [[$list[2], 3], [$list[3], 3], [$list[4], 3]]]);
});
on('counts, sums and pages over the shards', function ($em) {
	ordered($em, $list = buyers(10));
	$em->clear();
	equal(dql($em, 'SELECT COUNT(o), SUM(o.amount), MAX(o.buyer) FROM Purchase o WHERE o.buyer IN (:b)', ['b' => $list])->getSingleResult(), [1 => 10, 2 => '125.00', 3 => $list[9]]);
	$pages = array_map(fn ($p) => array_map(fn ($o) => (int) $o->buyer, $em->getRepository(Purchase::class)->findBy(['buyer' => $list], ['buyer' => 'DESC'], 4, 4 * $p)), [0, 1, 2, 3]);
	equal(array_merge(...$pages), array_reverse($list));
});
on('transactions of two buyers, with nested savepoints', function ($em, $db) {
	[$a, $b] = ordered($em, buyers(2));
	$pay = fn ($o, $status) => equal($db->update('test_order', ['status' => $status], ['order_id' => $o->id]), 1);
	$states = fn () => array_map(function ($o) use ($em) { $em->refresh($o); return $o->status; }, [$a, $b]);
	$db->transactional(function ($db) use ($pay, $a, $b, $em) {
		$pay($a, 'paid');
		$db->beginTransaction();
		$pay($b, 'lost');
		$db->transactional(fn () => $pay($a, 'lost'));
		$db->rollBack();
		$db->transactional(fn () => $pay($b, 'packed'));
		$em->lock($a, LockMode::PESSIMISTIC_WRITE);
	});
	equal($states(), ['paid', 'packed']);
	refused(fn () => $db->transactional(function () use ($pay, $a, $b) { $pay($a, 'gone'); $pay($b, 'gone'); throw new Exception('back'); }));
	equal($states(), ['paid', 'packed']);
});
finish();
