<?php
// Eloquent on the shop's tables, whose IDs and order numbers the proxy generates.
require __DIR__ . '/boot.php';

use Illuminate\Database\Capsule\Manager as DB;
use Illuminate\Database\Eloquent\Model;

class Order extends Model {
	protected $table = 'test_order', $primaryKey = 'order_id', $guarded = [];
	public $timestamps = false;
	public function items() { return $this->hasMany(Item::class, 'order_id'); }
}
class Item extends Model {
	protected $table = 'order_item', $primaryKey = 'item_id', $guarded = [];
	public $timestamps = false;
	public function order() { return $this->belongsTo(Order::class, 'order_id'); }
	public function product() { return $this->belongsTo(Product::class, 'product_id', 'product_id'); }
}
class Product extends Model {
	protected $table = 'product', $primaryKey = 'product_id', $guarded = [];
	public $timestamps = false, $incrementing = false;
}

$next = 10000;
function buyers($n) {
	global $next;
	$next += $n;
	return range($next - $n, $next - 1);
}
function ordered($list) { return array_map(fn ($b) => Order::create(['buyer_uid' => $b, 'amount' => '12.50'])->refresh(), $list); }
function keys($orders) { return array_map(fn ($o) => $o->order_id, $orders); }

test('the generated ID is the key of the model, and finds it, as do owner and number', function () {
	foreach (ordered(buyers(8)) as $o) {
		equal($o->order_id > 2 ** 40, true);
		foreach (['buyer_uid', 'order_no', 'order_id'] as $column) {
			equal(Order::where($column, $o->$column)->sole()->is($o), true);
		}
	}
});
test('rows of several buyers in one insert', function () {
	$list = buyers(9);
	equal(Order::insert(array_map(fn ($b) => ['buyer_uid' => $b, 'amount' => 1], $list)), true);
	equal(Order::whereIn('buyer_uid', $list)->orderBy('buyer_uid')->pluck('buyer_uid')->all(), $list);
	equal(Order::whereIn('buyer_uid', $list)->distinct()->count('order_id'), 9);
});
test('save, increment, delete, refused writes', function () {
	[$o, $other] = ordered(buyers(2));
	$o->status = 'paid';
	equal([$o->save(), $o->increment('amount', 1), $o->refresh()->status, $o->amount, $o->version], [true, 1, 'paid', '13.50', 3]);
	equal([$o->delete(), Order::find($o->order_id), Order::where('buyer_uid', $other->buyer_uid)->delete()], [true, null, 1]);
	equal(strpos(json_encode(refused(fn () => Order::where('status', 'none')->delete())), 'locus-') !== false, true);
});
test('upsert and insertOrIgnore by the ID', function () {
	[$o] = ordered(buyers(1));
	$row = $o->only('order_id', 'order_no', 'buyer_uid', 'version');
	Order::upsert([$row + ['amount' => 99]], ['order_id'], ['amount']);
	equal(DB::table('test_order')->insertOrIgnore($row), 0);
	equal(Order::where('buyer_uid', $o->buyer_uid)->pluck('amount', 'order_id')->all(), [$o->order_id => '99.00']);
	Order::updateOrCreate(['buyer_uid' => $o->buyer_uid], ['amount' => 5]);
	equal($o->refresh()->amount, '5.00');
});
test('items of orders: eager loading, counts, joins, products', function () {
	Product::insert(array_map(fn ($p) => ['product_id' => $p, 'name' => "p$p", 'price' => $p], [1, 2, 3]));
	$list = buyers(6);
	foreach (ordered($list) as $i => $o) {
		$o->items()->createMany(array_map(fn ($p) => ['product_id' => $p, 'quantity' => $i, 'price' => $p], [1, 2, 3]));
	}
	$orders = Order::whereIn('buyer_uid', $list)->with(['items' => fn ($q) => $q->orderBy('product_id'), 'items.product'])->withCount('items')->withSum('items', 'quantity')->orderBy('buyer_uid')->get();
	foreach ($orders as $i => $o) {
		equal([$o->items->map(fn ($x) => [$x->product->name, $x->quantity])->all(), $o->items_count, (int) $o->items_sum_quantity], [[['p1', $i], ['p2', $i], ['p3', $i]], 3, 3 * $i]);
	}
	equal(Order::whereIn('buyer_uid', $list)->whereHas('items', fn ($q) => $q->where('quantity', '>', 3))->orderBy('buyer_uid')->pluck('buyer_uid')->all(), array_slice($list, 4));
	$joined = DB::table('test_order')->join('order_item', 'order_item.order_id', '=', 'test_order.order_id')->join('product', 'product.product_id', '=', 'order_item.product_id')->whereIn('buyer_uid', $list)->groupBy('product.name')->orderBy('product.name');
	equal($joined->selectRaw('product.name as p, sum(quantity) as n')->get()->map(fn ($r) => [$r->p, (int) $r->n])->all(), [['p1', 15], ['p2', 15], ['p3', 15]]);
	equal($orders[0]->items()->delete(), 3);
	equal(Order::whereIn('buyer_uid', $list)->doesntHave('items')->pluck('buyer_uid')->all(), [$list[0]]);
});
test('counts, sums, pages and chunks over the shards', function () {
	$list = buyers(10);
	ordered($list);
	$mine = fn () => Order::whereIn('buyer_uid', $list);
	equal([$mine()->count(), $mine()->sum('amount'), $mine()->max('buyer_uid')], [10, '125.00', $list[9]]);
	$pages = array_map(fn ($p) => $mine()->orderByDesc('buyer_uid')->forPage($p, 4)->pluck('buyer_uid')->all(), [1, 2, 3, 4]);
	equal(array_merge(...$pages), array_reverse($list));
	$seen = [];
	$mine()->chunkById(3, function ($orders) use (&$seen) { $seen = [...$seen, ...$orders->pluck('buyer_uid')]; });
	sort($seen);
	equal($seen, $list);
	equal($mine()->cursor()->count(), 10);
});
test('transactions of two buyers, with nested savepoints', function () {
	[$a, $b] = ordered(buyers(2));
	$states = fn () => [$a->refresh()->status, $b->refresh()->status];
	DB::connection()->transaction(function () use ($a, $b) {
		$a->update(['status' => 'paid']);
		DB::connection()->beginTransaction();
		Order::whereKey($b->order_id)->update(['status' => 'lost']);
		DB::connection()->transaction(fn () => Order::whereKey($a->order_id)->update(['status' => 'lost']));
		DB::connection()->rollBack();
		DB::connection()->transaction(fn () => $b->update(['status' => 'packed']));
		equal(Order::lockForUpdate()->find($a->order_id)->status, 'paid');
	});
	equal($states(), ['paid', 'packed']);
	refused(fn () => DB::connection()->transaction(function () use ($a, $b) {
		$a->update(['status' => 'gone']);
		$b->update(['status' => 'gone']);
		throw new Exception('back');
	}));
	equal($states(), ['paid', 'packed']);
});
test('emulated prepared statements', function () {
	$o = Order::on('emulated')->create(['buyer_uid' => buyers(1)[0], 'amount' => '1.50', 'status' => "it's"]);
	equal(Order::on('emulated')->find($o->order_id)->status, "it's");
	equal(Order::on('emulated')->whereKey($o->order_id)->delete(), 1);
});
finish();
