# DBIx::Class on tables that their comments shard: users by their ID, orders and items by their user; tags are global.
use strict;
use warnings;
use utf8;
use Harness;

my %id = (id => { data_type => 'bigint', is_auto_increment => 1 });

# comment makes the hook that writes a table's comment into its definition.
sub comment {
	my ($words) = @_;
	return sub { $_[1]->comments("locus: $words") };
}

# ResultSet returns a result set where a list is wanted too.
package Shop::ResultSet {
	use base 'DBIx::Class::ResultSet';
	sub search { my $self = shift; return $self->search_rs(@_) }
}
package Shop::User {
	use base 'DBIx::Class::Core';
	__PACKAGE__->table('users');
	__PACKAGE__->add_columns(%id, name => { data_type => 'varchar', size => 40 }, age => { data_type => 'integer', is_nullable => 1 }, active => { data_type => 'boolean', default_value => 1 });
	__PACKAGE__->set_primary_key('id');
	__PACKAGE__->has_many(orders => 'Shop::Order', 'user_id');
	__PACKAGE__->has_many(user_tags => 'Shop::UserTag', 'user_id');
	__PACKAGE__->many_to_many(tags => 'user_tags', 'tag');
	*sqlt_deploy_hook = main::comment('owner=id');
}
package Shop::Order {
	use base 'DBIx::Class::Core';
	__PACKAGE__->table('orders');
	__PACKAGE__->add_columns(%id, user_id => { data_type => 'bigint' }, status => { data_type => 'varchar', size => 16, default_value => 'new' }, amount => { data_type => 'decimal', size => [12, 2], default_value => 0 });
	__PACKAGE__->set_primary_key('id');
	__PACKAGE__->belongs_to(user => 'Shop::User', 'user_id');
	__PACKAGE__->has_many(items => 'Shop::Item', 'order_id');
	*sqlt_deploy_hook = main::comment('owner=user_id');
}
package Shop::Item {
	use base 'DBIx::Class::Core';
	__PACKAGE__->table('items');
	__PACKAGE__->add_columns(%id, user_id => { data_type => 'bigint' }, order_id => { data_type => 'bigint' }, sku => { data_type => 'varchar', size => 30 }, quantity => { data_type => 'integer', default_value => 1 });
	__PACKAGE__->set_primary_key('id');
	# Without a constraint: it would not contain the owner.
	__PACKAGE__->belongs_to(order => 'Shop::Order', 'order_id', { is_foreign_key_constraint => 0 });
	*sqlt_deploy_hook = main::comment('owner=user_id');
}
package Shop::Tag {
	use base 'DBIx::Class::Core';
	__PACKAGE__->table('tags');
	__PACKAGE__->add_columns(%id, name => { data_type => 'varchar', size => 20 });
	__PACKAGE__->set_primary_key('id');
	__PACKAGE__->add_unique_constraint(tag_name => ['name']);
	__PACKAGE__->has_many(user_tags => 'Shop::UserTag', 'tag_id');
	*sqlt_deploy_hook = main::comment('global');
}
package Shop::UserTag {
	use base 'DBIx::Class::Core';
	__PACKAGE__->table('user_tags');
	__PACKAGE__->add_columns(user_id => { data_type => 'bigint' }, tag_id => { data_type => 'bigint' }, note => { data_type => 'varchar', size => 20, is_nullable => 1 });
	__PACKAGE__->set_primary_key(qw(user_id tag_id));
	__PACKAGE__->belongs_to(user => 'Shop::User', 'user_id');
	__PACKAGE__->belongs_to(tag => 'Shop::Tag', 'tag_id', { is_foreign_key_constraint => 0 });
	*sqlt_deploy_hook = main::comment('owner=user_id');
}
package Shop::Parcel {
	use base 'DBIx::Class::Core';
	__PACKAGE__->table('parcels');
	__PACKAGE__->add_columns(%id, user_id => { data_type => 'bigint' }, note => { data_type => 'varchar', size => 20, is_nullable => 1 });
	__PACKAGE__->set_primary_key('id');
	__PACKAGE__->belongs_to(user => 'Shop::User', 'user_id');
	*sqlt_deploy_hook = main::comment('owner=user_id');
}
package Shop {
	use base 'DBIx::Class::Schema';
	for my $name (qw(User Order Item Tag UserTag)) {
		"Shop::$name"->resultset_class('Shop::ResultSet');
		__PACKAGE__->register_class($name => "Shop::$name");
	}
}

package main;

my %options = (mysql_enable_utf8mb4 => 1, quote_names => 1, RaiseError => 1, auto_savepoint => 1);
my $s = Shop->connect(dsn(), \%options);
$s->deploy;

# people makes users of a case, each with as many orders as its place in the list, of two items each.
sub people {
	my ($kind, $n) = @_;
	return map {
		my $i = $_;
		my $user = $s->resultset('User')->create({ name => "$kind$i", age => $i == 3 ? undef : 20 + $i });
		for my $k (0 .. $i - 1) {
			my $order = $user->create_related(orders => { amount => 1.25 * ($k + 1), status => $k % 2 ? 'paid' : 'new' });
			$order->create_related(items => { user_id => $user->id, sku => "$kind-$i-$k-$_", quantity => $_ + 1 }) for 0, 1;
		}
		$user;
	} 0 .. ($n // 6) - 1;
}
sub users { return $s->resultset('User')->search({ 'me.name' => { -like => "$_[0]%" } }) }
sub names { return [$_[0]->search({}, { order_by => 'me.name' })->get_column('me.name')->all] }
sub rows { return [$_[0]->search({}, { result_class => 'DBIx::Class::ResultClass::HashRefInflator' })->all] }

test 'create, find, update, discard_changes, delete' => sub {
	my $u = $s->resultset('User')->create({ name => 'create', age => 5 });
	my @out = ($u->id > 0, $s->resultset('User')->find($u->id)->name, $s->resultset('User')->find(-1), $u->get_from_storage->active);
	$u->age(6);
	push @out, scalar $u->is_changed;
	$u->update;
	push @out, $u->get_from_storage->age;
	$u->update({ name => 'create2' });
	push @out, names(users('create'));
	$u->delete;
	push @out, $u->in_storage, users('create')->count;
	return @out;
};
test 'populate, in void context and with relations, and create_multi' => sub {
	$s->resultset('User')->populate([[qw(name age)], map { ["many$_", $_] } 1 .. 12]);
	my @made = $s->resultset('User')->populate([map { { name => "deep$_", age => $_, orders => [{ amount => $_ }, { amount => $_ + 1 }] } } 1 .. 4]);
	$s->resultset('Tag')->populate([map { { name => "many-$_" } } qw(a b c)]);
	return (rows(users('many')->search({}, { columns => [qw(name age)], order_by => 'age' })), scalar @made, [map { [$_->name, [sort $_->orders->get_column('amount')->all]] } users('deep')->search({}, { order_by => 'name' })->all]);
};
test 'find_or_create, update_or_create, find_or_new' => sub {
	my $rs = $s->resultset('Tag');
	my $a = $rs->find_or_create({ name => 'upsert' });
	my $b = $rs->find_or_create({ name => 'upsert' }, { key => 'tag_name' });
	my ($u) = people('upsert', 1);
	my $link = $s->resultset('UserTag')->update_or_create({ user_id => $u->id, tag_id => $a->id, note => 'a' });
	$link = $s->resultset('UserTag')->update_or_create({ user_id => $u->id, tag_id => $a->id, note => 'b' });
	return ($a->id == $b->id, $rs->find_or_new({ name => 'upsert-none' })->in_storage, [$s->resultset('UserTag')->search({ user_id => $u->id })->get_column('note')->all], $link->note);
};
test 'search conditions' => sub {
	people('where');
	my $orders = $s->resultset('Order');
	return map { names(users('where')->search($_)) } (
		{ age => { '>' => 22 } }, { age => undef }, { age => { -between => [21, 24] } }, { 'me.name' => [qw(where1 where5 none)] }, { 'me.name' => { -not_in => ['where1'] } }, { -not => { age => 22 } }, [{ age => 20 }, { age => 25 }], { 'me.name' => { -like => '%e4' } }, \['age % 2 = ?', 1], { active => 1 },
		{ 'me.id' => { -in => $orders->search({ status => 'paid' })->get_column('user_id')->as_query } }, { -exists => $orders->search({ 'o.user_id' => { -ident => 'me.id' }, 'o.amount' => { '>' => 3 } }, { alias => 'o' })->get_column('id')->as_query },
	);
};
test 'update and delete of many' => sub {
	my @ids = map { $_->id } people('change');
	my $own = $s->resultset('User')->search({ 'me.id' => \@ids });
	my $orders = $s->resultset('Order');
	my @out = ($own->search({ age => { '>' => 21 } })->update({ active => 0 }), $own->update({ age => \'age + 1' }), $orders->search({ user_id => \@ids, amount => { '>' => 2 } })->update({ status => 'x' }));
	push @out, $s->resultset('Item')->search({ user_id => { -in => $own->get_column('id')->as_query } })->delete;
	return (@out, rows($own->search({}, { columns => [qw(name age active)], order_by => 'name' })), rows($orders->search({ user_id => \@ids }, { columns => [qw(amount status)], order_by => [qw(amount status)] })));
};
test 'change and delete by a joined table' => sub { # which DBIx::Class finds by a query of the changed table
	my @ids = map { $_->id } people('joined');
	my $orders = $s->resultset('Order');
	return (
		$orders->search({ 'user.name' => 'joined4' }, { join => 'user' })->update({ status => 'y' }), $orders->search({ 'user.name' => 'joined5' }, { join => 'user' })->delete,
		rows($orders->search({ user_id => \@ids }, { columns => [qw(amount status)], order_by => [qw(amount status)] })),
	);
};
test 'change the first rows' => sub { # which DBIx::Class finds by a query in the condition
	people('first', 4);
	return (users('first')->search({}, { order_by => { -desc => 'name' }, rows => 2 })->update({ age => 0 }), [users('first')->search({ age => 0 }, { order_by => 'name' })->get_column('name')->all]);
};
test 'joins, prefetch, lazy relations' => sub {
	people('eager', 5);
	my $sorted = { order_by => ['me.name', 'orders.amount', 'items.sku'], prefetch => { orders => 'items' } };
	my @out = ([map { [$_->name, map { [$_->amount, map { $_->sku } $_->items->all] } $_->orders->all] } users('eager')->search({}, $sorted)->all]);
	push @out, [map { [$_->sku, $_->order->status, $_->order->user->name] } $s->resultset('Item')->search({ sku => { -like => 'eager-%' } }, { prefetch => { order => 'user' }, order_by => 'sku' })->all];
	push @out, [users('eager')->search({ 'orders.status' => 'paid' }, { join => 'orders', distinct => 1, order_by => 'me.name', columns => 'me.name' })->get_column('me.name')->all];
	my $u = users('eager4')->single;
	return (@out, $u->orders->count, $u->orders->get_column('amount')->sum, $u->orders->search({ status => 'paid' })->count, [map { $_->order->user->name } $s->resultset('Item')->search({ sku => 'eager-2-1-1' })->all], [users('eager2')->search_related('orders')->search_related('items', {}, { order_by => 'sku' })->get_column('sku')->all]);
};
test 'prefetch of a page' => sub {
	people('paged', 5);
	my $rs = users('paged')->search({}, { prefetch => 'orders', order_by => [{ -desc => 'me.name' }, 'orders.amount'], rows => 2, page => 2 });
	return ([map { [$_->name, $_->orders->get_column('amount')->all] } $rs->all], $rs->pager->total_entries, $rs->pager->last_page, $rs->count);
};
test 'many to many by a global table' => sub {
	my @users = people('tagged', 4);
	my @tags = map { $s->resultset('Tag')->create({ name => "tagged-$_" }) } qw(a b c);
	for my $i (0 .. 3) {
		$users[$i]->add_to_tags($_, { note => "n$i" }) for @tags[0 .. $i - 1];
	}
	$users[0]->set_tags([@tags[1, 2]]);
	$users[2]->remove_from_tags($tags[0]);
	return ([map { [sort map { $_->name } $_->tags->all] } users('tagged')->search({}, { order_by => 'name' })->all], [map { [$_->name, $_->user_tags->count] } $s->resultset('Tag')->search({ name => { -like => 'tagged%' } }, { order_by => 'name' })->all], names(users('tagged')->search({ 'tag.name' => 'tagged-c' }, { join => { user_tags => 'tag' } })));
};
test 'aggregates, groups, having, distinct' => sub {
	my @ids = map { $_->id } people('group');
	my ($rs, $orders) = (users('group'), $s->resultset('Order')->search({ user_id => \@ids }));
	my $per = $rs->search({}, { join => 'orders', select => ['me.name', { count => 'orders.id', -as => 'n' }, { sum => 'orders.amount', -as => 's' }], as => [qw(name n s)], group_by => 'me.name', having => { n => { '>' => 1 } }, order_by => { -desc => 'n' } });
	return ($rs->count, (map { $rs->get_column('age')->$_ } qw(sum max min)), $rs->get_column('age')->func('avg'), $orders->get_column('amount')->sum, [$orders->search({}, { columns => 'amount', distinct => 1, order_by => 'amount' })->get_column('amount')->all], [map { { $_->get_columns } } $per->all], rows($orders->search({}, { select => ['status', { count => '*' }], as => [qw(status n)], group_by => 'status', order_by => 'status' })));
};
test 'pages, slices, cursors' => sub {
	people('page', 9);
	my $rs = users('page')->search({}, { order_by => [{ -desc => 'age' }, 'name'] });
	my @cursor;
	while (my $u = $rs->next) { push @cursor, $u->name }
	return ([map { $_->name } $rs->slice(2, 5)->all], [$rs->search({}, { rows => 3, offset => 5 })->get_column('name')->all], \@cursor, $rs->first->name, [users('page')->search({ name => { '>' => 'page5' } }, { order_by => 'name', rows => 2 })->get_column('name')->all], $rs->search({}, { rows => 4 })->count);
};
test 'subqueries, correlated, unions of the application' => sub {
	people('sub');
	my $orders = $s->resultset('Order');
	my $n = $orders->search({ 'o.user_id' => { -ident => 'me.id' } }, { alias => 'o' });
	my $best = $orders->search({}, { select => [{ max => 'amount' }], as => ['top'] });
	return (rows(users('sub')->search({}, { columns => ['name', { n => $n->count_rs->as_query }, { top => $n->get_column('amount')->max_rs->as_query }], order_by => 'name' })), rows($orders->search({ amount => { '=' => $best->as_query }, 'user.name' => { -like => 'sub%' } }, { join => 'user', columns => 'amount' })), users('sub')->as_subselect_rs->search({ age => { '>' => 22 } })->count);
};
test 'transactions and nested savepoints over several users' => sub {
	my @u = people('trx', 4);
	my $ages = sub { return [users('trx')->search({}, { order_by => 'name' })->get_column('age')->all] };
	my $set = sub { my ($i, $age) = @_; $s->resultset('User')->search({ id => $u[$i]->id })->update({ age => $age }) };
	my @out = (refused(sub { $s->txn_do(sub { $set->($_, 1) for 0 .. 3; die "back\n" }) }), $ages->());
	$s->txn_do(sub {
		$set->(0, 50);
		$s->txn_do(sub {
			$set->(1, 51);
			eval { $s->txn_do(sub { $set->(2, 52); $set->(0, 52); die 'back' }) };
			$set->(3, 53);
		});
		push @out, $ages->();
		$s->svp_begin('own');
		$u[1]->delete_related('orders');
		$s->svp_rollback('own');
		$s->svp_release('own');
	});
	my $guard = $s->txn_scope_guard;
	$set->(0, 99);
	$guard->commit;
	{
		local $SIG{__WARN__} = sub { };
		my $lost = $s->txn_scope_guard;
		$set->(0, 98);
	}
	return (@out, $ages->(), $u[1]->orders->count);
};
test 'locking reads' => sub {
	my @u = people('lock', 3);
	return $s->txn_do(sub { return ($s->resultset('User')->find($u[0]->id, { for => 'update' })->name, names(users('lock')->search({}, { for => 'update' })), names(users('lock')->search({}, { for => 'shared' }))) });
};
test 'errors' => sub {
	$s->resultset('Tag')->create({ name => 'error' });
	my $run = sub { my ($text) = @_; return sub { $s->storage->dbh_do(sub { $_[1]->do($text) }) } };
	return map { refused($_) } (sub { $s->resultset('Tag')->create({ name => 'error' }) }, $run->('SELEC 1'), $run->('SELECT missing FROM users'), $run->('SELECT 1 FROM missing'), sub { $s->resultset('User')->create({ name => 'x' x 50 }) }, sub { $s->resultset('User')->create({ name => undef }) }, sub { $s->resultset('Order')->create({ user_id => 123456789 }) });
};
test 'prepared on the server, and texts' => sub {
	my $p = Shop->connect(dsn(), { %options, mysql_server_prepare => 1 });
	my @names = map { "prep'\\ä€😀$_" } 1 .. 3;
	my @ids = map { $p->resultset('User')->create({ name => $_, age => 7 })->id } @names;
	return ([map { $p->resultset('User')->find($_)->name } @ids], $p->resultset('User')->search({ id => \@ids, age => 7 })->update({ age => 8 }), $s->resultset('User')->search({ name => \@names })->get_column('age')->sum);
};
test 'deploy, alter and drop a sharded table' => sub {
	Shop->register_class(Parcel => 'Shop::Parcel');
	my $p = Shop->connect(dsn(), \%options);
	$p->deploy({ sources => ['Parcel'] });
	$p->resultset('Parcel')->populate([map { my $u = $_; map { { user_id => $u->id, note => $u->name . $_ } } qw(a b) } people('parcel', 4)]);
	my $do = sub { $p->storage->dbh_do(sub { $_[1]->do($_[2]) }, $_[0]) };
	$do->('ALTER TABLE parcels ADD COLUMN weight integer NOT NULL DEFAULT 7, ADD INDEX by_weight (weight)');
	my @out = ($do->(q{UPDATE parcels SET weight = 8 WHERE note > 'parcel2'}), $p->storage->dbh_do(sub { $_[1]->selectall_arrayref('SELECT note, weight FROM parcels ORDER BY note') }));
	my $columns = $p->storage->columns_info_for('parcels');
	push @out, { map { $_ => [@{ $columns->{$_} }{qw(data_type is_nullable default_value)}] } keys %$columns };
	$do->('ALTER TABLE parcels DROP INDEX by_weight, DROP COLUMN weight');
	push @out, $p->resultset('Parcel')->count, [$p->resultset('Parcel')->search({}, { prefetch => 'user', order_by => 'note' })->get_column('note')->all];
	$do->('DROP TABLE parcels');
	return (@out, refused(sub { $p->resultset('Parcel')->count }));
};
finish;
