<?php
// Eloquent and Laravel's query builder on tables that their comments shard: users by their ID, orders and items by their user; tags are global.
require __DIR__ . '/boot.php';

use Illuminate\Database\Capsule\Manager as DB;
use Illuminate\Database\Eloquent\Model;
use Illuminate\Database\Schema\Blueprint;

class Row extends Model {
	public $timestamps = false;
	protected $guarded = [];
}
class User extends Row {
	protected $casts = ['active' => 'boolean', 'options' => 'array'];
	public function orders() { return $this->hasMany(Order::class); }
	public function items() { return $this->hasManyThrough(Item::class, Order::class); }
	public function latest() { return $this->hasOne(Order::class)->ofMany('amount', 'max'); }
	public function tags() { return $this->belongsToMany(Tag::class, 'user_tags')->withPivot('note'); }
	public function notes() { return $this->morphMany(Note::class, 'about'); }
	public function scopeOf($query, $kind) { return $query->where('name', 'like', "$kind%"); }
}
class Order extends Row {
	public function user() { return $this->belongsTo(User::class); }
	public function items() { return $this->hasMany(Item::class); }
}
class Item extends Row {
	public function order() { return $this->belongsTo(Order::class); }
}
class Tag extends Row {
	public function users() { return $this->belongsToMany(User::class, 'user_tags'); }
}
class Note extends Row {
	public function about() { return $this->morphTo(); }
}

// create makes a table whose comment is in its definition, as Laravel 9 and later do it by Blueprint::comment.
function create($table, $words, $define) {
	$blueprint = new Blueprint($table);
	$blueprint->create();
	$define($blueprint);
	$statements = $blueprint->toSql(DB::connection(), DB::connection()->getSchemaGrammar());
	$statements[0] .= " comment 'locus: $words'";
	foreach ($statements as $statement) {
		DB::statement($statement);
	}
}

DB::connection()->useDefaultSchemaGrammar();
create('users', 'owner=id', function ($t) {
	$t->id();
	$t->string('name', 40);
	$t->integer('age')->nullable();
	$t->boolean('active')->default(true);
	$t->json('options')->nullable();
});
create('orders', 'owner=user_id', function ($t) {
	$t->id();
	$t->foreignId('user_id')->constrained()->cascadeOnDelete();
	$t->string('status', 16)->default('new');
	$t->decimal('amount', 12, 2)->default(0);
});
create('items', 'owner=user_id', function ($t) {
	$t->id();
	$t->foreignId('user_id')->index();
	$t->foreignId('order_id')->index();
	$t->string('sku', 30);
	$t->integer('quantity')->default(1);
});
create('tags', 'global', function ($t) {
	$t->id();
	$t->string('name', 20)->unique();
});
create('user_tags', 'owner=user_id', function ($t) {
	$t->foreignId('user_id');
	$t->foreignId('tag_id');
	$t->string('note', 20)->nullable();
	$t->primary(['user_id', 'tag_id']);
});
create('notes', 'owner=about_id', function ($t) {
	$t->id();
	$t->morphs('about');
	$t->text('text');
});

// people makes users of a case, each with as many orders as its place in the list, of two items each.
function people($kind, $n = 6) {
	$users = [];
	for ($i = 0; $i < $n; $i++) {
		$users[] = $user = User::create(['name' => "$kind$i", 'age' => $i == 3 ? null : 20 + $i, 'options' => ['n' => $i, 'list' => [$i, $i + 1]]]);
		for ($k = 0; $k < $i; $k++) {
			$order = $user->orders()->create(['amount' => 1.25 * ($k + 1), 'status' => $k % 2 ? 'paid' : 'new']);
			$order->items()->createMany(array_map(fn ($x) => ['user_id' => $user->id, 'sku' => "$kind-$i-$k-$x", 'quantity' => $x + 1], [0, 1]));
		}
	}
	return $users;
}
function names($query) { return $query->orderBy('name')->pluck('name')->all(); }
function ids($users) { return array_map(fn ($u) => $u->id, $users); }

test('create, find, refresh, update, save, delete', function () {
	$u = User::create(['name' => 'create', 'age' => 5]);
	$out = [$u->id > 0, $u->wasRecentlyCreated, User::find($u->id)->name, User::find(-1), User::findMany([$u->id, -1])->count(), $u->refresh()->active, User::where('name', 'create')->sole()->age];
	$u->age = 6;
	$out[] = [$u->isDirty(), $u->save(), $u->fresh()->age, $u->update(['name' => 'create2']), $u->increment('age', 3), $u->fresh()->only('name', 'age'), $u->replicate()->fill(['name' => 'create3'])->save()];
	$out[] = [$u->delete(), User::find($u->id), User::destroy(User::where('name', 'create3')->pluck('id'))];
	return $out;
});
test('insert, insertGetId, insertOrIgnore, insertUsing', function () {
	$id = DB::table('users')->insertGetId(['name' => 'insert']);
	$out = [DB::table('users')->find($id)->name, DB::table('users')->insert(array_map(fn ($i) => ['name' => "insert$i", 'age' => $i], range(1, 12))), User::of('insert')->distinct()->count('id')];
	$tag = Tag::create(['name' => 'insert']);
	$out[] = DB::table('user_tags')->insertUsing(['user_id', 'tag_id', 'note'], DB::table('users')->where('name', 'like', 'insert%')->select('id', DB::raw("$tag->id"), 'name'));
	$out[] = DB::table('user_tags')->insertOrIgnore([['user_id' => $id, 'tag_id' => $tag->id], ['user_id' => $id, 'tag_id' => $tag->id + 1]]);
	return [...$out, DB::table('user_tags')->where('tag_id', $tag->id)->orderBy('note')->pluck('note')];
});
test('upsert, updateOrInsert, firstOrCreate, updateOrCreate, firstOrNew', function () {
	$tag = Tag::create(['name' => 'upsert']);
	$rows = array_map(fn ($u) => ['user_id' => $u->id, 'tag_id' => $tag->id, 'note' => 'a'], people('upsert', 3));
	$out = [DB::table('user_tags')->upsert($rows, ['user_id', 'tag_id'], ['note'])];
	$rows = array_map(fn ($r) => ['note' => 'b'] + $r, $rows);
	$out[] = DB::table('user_tags')->upsert($rows, ['user_id', 'tag_id'], ['note']);
	$out[] = DB::table('user_tags')->upsert($rows[0], ['user_id', 'tag_id'], ['note' => DB::raw("concat(note, 'c')")]);
	$out[] = DB::table('user_tags')->updateOrInsert(['user_id' => $rows[1]['user_id'], 'tag_id' => $tag->id], ['note' => 'd']);
	$out[] = DB::table('user_tags')->where('tag_id', $tag->id)->orderBy('note')->pluck('note');
	$a = User::firstOrCreate(['name' => 'upsert-new'], ['age' => 1]);
	$b = User::firstOrCreate(['name' => 'upsert-new'], ['age' => 2]);
	$c = User::updateOrCreate(['name' => 'upsert-new'], ['age' => 3]);
	return [...$out, $a->is($b), $a->is($c), $c->fresh()->age, User::firstOrNew(['name' => 'upsert-none'])->exists, Tag::upsert([['name' => 'upsert'], ['name' => 'upsert2']], ['name'], ['name']), Tag::where('name', 'like', 'upsert%')->count()];
});
test('where', function () {
	people('where');
	$q = fn ($f) => names(tap(User::of('where'), $f));
	return array_map($q, [
		fn ($q) => $q->where('age', '>', 22), fn ($q) => $q->whereNull('age'), fn ($q) => $q->whereBetween('age', [21, 24]), fn ($q) => $q->whereIn('name', ['where1', 'where5']), fn ($q) => $q->whereNotIn('name', ['where1']),
		fn ($q) => $q->where(fn ($w) => $w->where('age', 20)->orWhere('age', 25)), fn ($q) => $q->whereRaw('age % 2 = ?', [1]), fn ($q) => $q->whereColumn('age', '<', 'id'), fn ($q) => $q->where('options->n', 4), fn ($q) => $q->whereJsonContains('options->list', 3),
		fn ($q) => $q->whereJsonLength('options->list', 2), fn ($q) => $q->whereHas('orders', fn ($o) => $o->where('amount', '>', 3)), fn ($q) => $q->doesntHave('orders'), fn ($q) => $q->has('orders', '>=', 3), fn ($q) => $q->whereHas('orders.items', fn ($i) => $i->where('sku', 'like', '%-2-1')),
		fn ($q) => $q->whereIn('id', Order::select('user_id')->where('status', 'paid')), fn ($q) => $q->whereExists(fn ($e) => $e->from('orders')->whereColumn('orders.user_id', 'users.id')->where('amount', '>', 4)), fn ($q) => $q->where('active', true),
	]);
});
test('update and delete of many', function () {
	$users = people('change');
	$out = [User::of('change')->where('age', '>', 21)->update(['active' => false]), User::of('change')->increment('age', 2), User::of('change')->decrement('age', 1, ['active' => true])];
	$out[] = Order::whereIn('user_id', ids($users))->where('amount', '>', 2)->update(['status' => 'x']);
	$out[] = Item::whereIn('user_id', User::of('change')->select('id'))->delete();
	$out[] = User::of('change')->orderByDesc('id')->limit(2)->update(['age' => 0]);
	$out[] = DB::table('users')->join('orders', 'orders.user_id', '=', 'users.id')->where('name', 'like', 'change%')->where('amount', '>', 4)->update(['users.age' => 77, 'orders.status' => 'y']);
	$out[] = User::of('change')->where('options->n', 1)->update(['options->n' => 11]);
	$out[] = User::of('change')->orderBy('name')->get()->map->only('name', 'age', 'active', 'options');
	$out[] = [User::of('change')->orderBy('age')->orderBy('id')->limit(1)->delete(), DB::table('orders')->join('users', 'orders.user_id', '=', 'users.id')->where('name', 'change5')->delete()];
	return [...$out, Order::whereIn('user_id', ids($users))->orderBy('amount')->pluck('amount', 'status'), names(User::of('change'))];
});
test('relations: eager, nested, counted, constrained, lazy', function () {
	people('eager', 5);
	$users = User::of('eager')->with(['orders' => fn ($q) => $q->orderBy('amount'), 'orders.items' => fn ($q) => $q->orderBy('sku')])->orderBy('name')->get();
	$out = [$users->map(fn ($u) => [$u->name, $u->orders->map(fn ($o) => [$o->amount, $o->items->pluck('sku')])])];
	$out[] = User::of('eager')->withCount(['orders', 'orders as paid' => fn ($q) => $q->where('status', 'paid')])->withSum('orders', 'amount')->withMax('orders', 'amount')->withExists('orders')->orderBy('name')->get()->map->only('name', 'orders_count', 'paid', 'orders_sum_amount', 'orders_max_amount', 'orders_exists');
	$out[] = User::of('eager')->orderBy('name')->get()->load('latest')->map(fn ($u) => $u->latest->amount ?? null);
	$out[] = User::of('eager')->with('items')->orderBy('name')->get()->map(fn ($u) => $u->items->pluck('sku')->sort()->values());
	$out[] = Item::where('sku', 'like', 'eager-%')->with('order.user')->orderBy('sku')->get()->map(fn ($i) => $i->order->user->name);
	return [...$out, Order::whereRelation('user', 'name', 'eager4')->orderBy('amount')->pluck('amount'), User::where('name', 'eager4')->first()->orders()->sum('amount'), User::where('name', 'eager4')->first()->items()->count()];
});
test('many to many: attach, sync, toggle, pivot', function () {
	$users = people('tagged', 4);
	$tags = array_map(fn ($n) => Tag::create(['name' => "tagged-$n"])->id, ['a', 'b', 'c']);
	foreach ($users as $i => $u) {
		$u->tags()->attach(array_fill_keys(array_slice($tags, 0, $i), ['note' => "n$i"]));
	}
	$shape = fn ($x) => array_map('count', $x);
	$out = [$shape($users[1]->tags()->sync([$tags[1], $tags[2]])), $shape($users[2]->tags()->toggle($tags)), $users[3]->tags()->detach($tags[0]), $users[3]->tags()->updateExistingPivot($tags[1], ['note' => 'x']), $shape($users[0]->tags()->syncWithoutDetaching($tags))];
	$out[] = User::of('tagged')->with(['tags' => fn ($q) => $q->orderBy('name')])->orderBy('name')->get()->map(fn ($u) => $u->tags->map(fn ($t) => [$t->name, $t->pivot->note]));
	return [...$out, Tag::where('name', 'like', 'tagged%')->withCount('users')->orderBy('name')->pluck('users_count', 'name'), Tag::where('name', 'tagged-c')->first()->users()->orderBy('name')->pluck('name'), names(User::whereHas('tags', fn ($q) => $q->where('name', 'tagged-a')))];
});
test('polymorphic relations', function () {
	foreach (people('morph', 3) as $u) {
		$u->notes()->createMany([['text' => "$u->name a"], ['text' => "$u->name b"]]);
	}
	return [Note::where('text', 'like', 'morph%')->with('about')->orderBy('text')->get()->map(fn ($n) => [$n->text, $n->about->name]), names(User::whereHas('notes', fn ($q) => $q->where('text', 'morph1 b'))), Note::whereHasMorph('about', User::class, fn ($q) => $q->where('name', 'morph2'))->count()];
});
test('aggregates and groups', function () {
	$users = people('group');
	$q = fn () => User::of('group');
	$mine = fn () => Order::whereIn('user_id', ids($users));
	return [
		$q()->count(), $q()->sum('age'), $q()->avg('age'), $q()->max('age'), $q()->min('name'), $q()->exists(), $mine()->count(), $mine()->sum('amount'), $mine()->distinct()->count('amount'), $mine()->select('amount')->distinct()->orderBy('amount')->pluck('amount'),
		$mine()->selectRaw('status, count(*) as n, sum(amount) as s')->groupBy('status')->having('n', '>', 1)->orderBy('status')->get(), DB::table('users')->leftJoin('orders', 'orders.user_id', '=', 'users.id')->where('name', 'like', 'group%')->groupBy('name')->orderByDesc('n')->orderBy('name')->selectRaw('name, count(orders.id) as n, max(amount) as m')->get(),
	];
});
test('pages, chunks, cursors', function () {
	people('page', 9);
	$q = fn () => User::of('page')->orderByDesc('age')->orderBy('name');
	$chunked = $byId = [];
	$q()->chunk(4, function ($users) use (&$chunked) { $chunked[] = $users->pluck('name'); });
	User::of('page')->chunkById(4, function ($users) use (&$byId) { $byId = [...$byId, ...$users->pluck('name')]; });
	sort($byId);
	return [
		$q()->forPage(2, 4)->pluck('name'), $q()->skip(5)->take(2)->pluck('name'), $chunked, $byId, $q()->cursor()->map->name->values()->all(), $q()->lazy(3)->map->name->values()->all(), User::of('page')->lazyById(4)->count(), User::of('page')->forPageAfterId(3, 0)->count(),
		$q()->reorder('name', 'desc')->value('name'), $q()->first()->name, User::of('page')->inRandomOrder()->get()->count(),
	];
});
test('joins, subqueries, unions, windows', function () {
	people('sub');
	$spent = Order::selectRaw('user_id, sum(amount) as total')->groupBy('user_id');
	$one = fn ($n) => DB::table('users')->select('name')->where('name', $n);
	return [
		User::of('sub')->joinSub($spent, 'spent', 'spent.user_id', '=', 'users.id')->orderBy('name')->get(['name', 'total'])->map->only('name', 'total'), User::of('sub')->addSelect(['name', 'top' => Order::select('amount')->whereColumn('user_id', 'users.id')->orderByDesc('amount')->limit(1)])->orderBy('name')->get()->map->only('name', 'top'),
		User::of('sub')->orderByDesc(Order::selectRaw('count(*)')->whereColumn('user_id', 'users.id'))->pluck('name'), DB::table('items')->join('orders', 'items.order_id', '=', 'orders.id')->join('users', 'orders.user_id', '=', 'users.id')->where('name', 'like', 'sub%')->orderBy('sku')->get(['sku', 'status', 'name']),
		$one('sub1')->union($one('sub2'))->orderBy('name')->get(), $one('sub1')->unionAll($one('sub1'))->count(), DB::query()->fromSub($spent, 's')->whereIn('user_id', User::of('sub')->pluck('id'))->sum('total'), User::of('sub')->whereNotNull('age')->selectRaw('name, rank() over (order by age desc) as r')->orderBy('r')->get()->map->only('name', 'r'),
		DB::table('users as a')->crossJoin('users as b')->where('a.name', 'like', 'sub%')->where('b.name', 'sub1')->count(), DB::select('with old as (select name, age from users where name like ? and age > ?) select o.name, p.name as other from old o join old p on p.age = o.age + 1 order by 1', ['sub%', 21]),
	];
});
test('transactions and nested savepoints over several users', function () {
	$users = people('trx', 4);
	$ages = fn () => User::of('trx')->orderBy('name')->pluck('age')->all();
	$set = fn ($i, $age) => User::where('id', $users[$i]->id)->update(['age' => $age]);
	$out = [refused(fn () => DB::connection()->transaction(function () use ($set) { foreach ([0, 1, 2, 3] as $i) $set($i, 1); throw new Exception('back'); })), $ages()];
	DB::connection()->transaction(function () use ($set, $ages, &$out, $users) {
		$set(0, 50);
		DB::connection()->transaction(function () use ($set) {
			$set(1, 51);
			DB::connection()->beginTransaction();
			$set(2, 52);
			$set(0, 52);
			DB::connection()->rollBack();
			$set(3, 53);
		});
		$out[] = [$ages(), DB::connection()->transactionLevel()];
		DB::connection()->beginTransaction();
		$users[0]->orders()->delete();
		User::destroy($users[0]->id);
		DB::connection()->rollBack();
	});
	return [...$out, $ages(), DB::connection()->transactionLevel()];
});
test('locking reads', function () {
	$users = people('lock', 3);
	return DB::connection()->transaction(fn () => [User::lockForUpdate()->find($users[0]->id)->name, User::of('lock')->orderBy('age')->sharedLock()->pluck('name')]);
});
test('lock the first rows in the order of a text', function () {
	people('textual', 3);
	return DB::connection()->transaction(fn () => names(User::of('textual')->lockForUpdate()));
});
test('change the first rows in the order of a text', function () {
	people('first', 4);
	return [User::of('first')->orderByDesc('name')->limit(2)->update(['age' => 0]), User::of('first')->orderBy('name')->limit(1)->delete(), User::of('first')->orderBy('name')->get(['name', 'age'])];
});
test('emulated prepared statements', function () {
	people('emulated', 4);
	$c = DB::connection('emulated');
	$u = User::on('emulated')->create(['name' => "emulated'\\ä", 'age' => 7]);
	return [User::on('emulated')->find($u->id)->name, $c->table('users')->where('name', 'like', 'emulated%')->where('age', '>', 20)->orderBy('name')->get(['name', 'age']), $c->update('update users set age = age + ? where id = ?', [1, $u->id]), $c->selectOne('select age from users where id = :id', ['id' => $u->id]), $c->transaction(fn () => User::on('emulated')->of('emulated')->count())];
});
test('errors', function () {
	Tag::create(['name' => 'error']);
	return [refused(fn () => Tag::create(['name' => 'error'])), refused(fn () => DB::select('selec 1')), refused(fn () => DB::select('select missing from users')), refused(fn () => User::create(['name' => str_repeat('x', 50)])), refused(fn () => User::create(['name' => null])), refused(fn () => DB::table('user_tags')->insert(['user_id' => 1])), refused(fn () => User::findOrFail(-1)), refused(fn () => Order::create(['user_id' => 123456789]))];
});
test('types', function () {
	create('kinds', 'owner=user_id', function ($t) {
		$t->unsignedBigInteger('user_id')->primary();
		$t->text('text');
		$t->binary('blob');
		$t->double('double');
		$t->decimal('exact', 20, 6);
		$t->dateTime('at', 3);
		$t->date('day');
		$t->time('clock');
		$t->timestamp('stamp')->nullable();
		$t->json('json');
		$t->enum('kind', ['a', 'b']);
		$t->uuid('uuid');
		$t->year('year');
	});
	foreach ([1, 2, '18446744073709551615'] as $i => $id) {
		DB::table('kinds')->insert([
			'user_id' => $id, 'text' => "ä€😀\\" . str_repeat("'", $i), 'blob' => "b'\\$i", 'double' => 1.5 * $i, 'exact' => '12345678901234.123456', 'at' => "2026-02-03 0$i:04:05.678", 'day' => '2026-02-03', 'clock' => '-100:02:03',
			'stamp' => '2026-02-03 04:05:06', 'json' => json_encode(['i' => $i]), 'kind' => 'b', 'uuid' => "6f1c2d3e-0000-4000-8000-00000000000$i", 'year' => 2026,
		]);
	}
	$out = [DB::table('kinds')->orderBy('user_id')->get(), DB::table('kinds')->whereDate('at', '2026-02-03')->whereTime('at', '>', '01:00')->count(), DB::table('kinds')->whereYear('at', 2026)->sum('exact'), DB::connection('emulated')->table('kinds')->orderBy('user_id')->get()];
	DB::schema()->drop('kinds');
	return $out;
});
test('migrations of a sharded table, and what schema builders ask', function () {
	$schema = DB::schema();
	create('parcels', 'owner=user_id', function ($t) {
		$t->increments('id');
		$t->foreignId('user_id')->constrained();
		$t->string('note', 20)->nullable();
	});
	foreach (people('parcel', 4) as $u) {
		DB::table('parcels')->insert([['user_id' => $u->id, 'note' => "$u->name a"], ['user_id' => $u->id, 'note' => "$u->name b"]]);
	}
	$schema->table('parcels', function ($t) { $t->integer('weight')->default(7)->after('user_id'); $t->index(['weight', 'note'], 'by_weight'); $t->softDeletes(); });
	$out = [DB::table('parcels')->where('note', '>', 'parcel2')->update(['weight' => 8]), collect($schema->getColumnListing('parcels'))->sort()->values(), $schema->hasColumn('parcels', 'weight'), DB::table('parcels')->orderBy('note')->get(['note', 'weight'])];
	$schema->rename('parcels', 'crates');
	$schema->table('crates', function ($t) { $t->dropIndex('by_weight'); $t->dropForeign('parcels_user_id_foreign'); $t->dropSoftDeletes(); });
	$out[] = [$schema->hasTable('parcels'), $schema->hasTable('crates'), DB::select("select table_name as t, column_name as c, column_type as k from information_schema.columns where table_schema = database() and table_name = 'crates' order by ordinal_position")];
	DB::statement('alter table crates rename column weight to grams');
	$schema->table('crates', fn ($t) => $t->string('label', 10)->storedAs('left(note, 7)'));
	$out[] = DB::table('crates')->orderBy('note')->get(['note', 'grams', 'label']);
	DB::table('crates')->truncate();
	$out[] = DB::table('crates')->count();
	$schema->table('crates', fn ($t) => $t->dropColumn('label', 'grams'));
	$out[] = collect($schema->getColumnListing('crates'))->sort()->values();
	$schema->dropIfExists('crates');
	return [...$out, $schema->hasTable('crates')];
});
test('views', function () {
	create('accounts', 'owner=id', function ($t) { $t->id(); $t->string('name', 20); });
	DB::schema()->table('accounts', fn ($t) => $t->tinyInteger('gone')->default(0));
	DB::table('accounts')->insert(array_map(fn ($i) => ['name' => "account$i"], range(1, 6)));
	DB::statement('create view live as select name from accounts where gone = 0');
	$out = [DB::table('accounts')->where('name', '>', 'account4')->update(['gone' => 1]), DB::table('live')->orderBy('name')->pluck('name')];
	DB::statement('drop view live');
	DB::schema()->drop('accounts');
	return $out;
});
test('fresh: drop all tables', function () {
	create('scraps', 'owner=id', fn ($t) => $t->id());
	DB::schema()->dropAllTables();
	return DB::select('show tables');
});
finish();
