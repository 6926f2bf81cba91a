# DBIx::Class on the shop's tables, whose IDs and order numbers the proxy generates.
use strict;
use warnings;
use Harness;

package Shop::Product {
	use base 'DBIx::Class::Core';
	__PACKAGE__->table('product');
	__PACKAGE__->add_columns(qw(product_id name price));
	__PACKAGE__->set_primary_key('product_id');
}
package Shop::Order {
	use base 'DBIx::Class::Core';
	__PACKAGE__->table('test_order');
	__PACKAGE__->add_columns(order_id => { is_auto_increment => 1 }, order_no => { retrieve_on_insert => 1 }, qw(buyer_uid amount status version));
	__PACKAGE__->set_primary_key('order_id');
	__PACKAGE__->has_many(items => 'Shop::Item', 'order_id');
}
package Shop::Item {
	use base 'DBIx::Class::Core';
	__PACKAGE__->table('order_item');
	__PACKAGE__->add_columns(item_id => { is_auto_increment => 1 }, qw(order_id product_id quantity price));
	__PACKAGE__->set_primary_key('item_id');
	__PACKAGE__->belongs_to(order => 'Shop::Order', 'order_id');
	__PACKAGE__->belongs_to(product => 'Shop::Product', 'product_id');
}
package Shop {
	use base 'DBIx::Class::Schema';
	__PACKAGE__->register_class($_ => "Shop::$_") for qw(Order Item Product);
}

package main;

my $s = Shop->connect(dsn(), { quote_names => 1, RaiseError => 1, auto_savepoint => 1 });
my $orders = $s->resultset('Order');
my $next = 14000;
sub buyers { return map { $next++ } 1 .. $_[0] }
sub ordered { return map { $orders->create({ buyer_uid => $_, amount => '12.50', status => 'new' }) } @_ }

test 'generated IDs and numbers come back, and find the order, as does the owner' => sub {
	for my $o (ordered(buyers(8))) {
		equal([$o->order_id > 2**40, $o->order_no > 0], [!!1, !!1]);
		equal($orders->search({ $_ => $o->$_ })->single->order_id, $o->order_id) for qw(order_id order_no buyer_uid);
	}
};
test 'rows of several buyers in one insert' => sub {
	my @list = buyers(9);
	$orders->populate([[qw(buyer_uid amount)], map { [$_, 1] } @list]);
	equal([$orders->search({ buyer_uid => \@list }, { order_by => 'buyer_uid' })->get_column('buyer_uid')->all], \@list);
	equal($orders->search({ buyer_uid => \@list }, { columns => 'order_id', distinct => 1 })->count, 9);
};
test 'update, delete, refused writes' => sub {
	my ($o, $other) = ordered(buyers(2));
	$o->update({ status => 'paid' });
	$o->update({ amount => \'amount + 1' });
	$o->discard_changes;
	equal([$o->status, $o->amount, $o->version], ['paid', '13.50', 3]);
	my $id = $o->order_id;
	$o->delete;
	equal([$orders->find($id), 0 + $orders->search({ buyer_uid => $other->buyer_uid })->delete], [undef, 1]);
	die 'not refused' if refused(sub { $orders->search({ status => 'none' })->delete }) !~ /locus-/;
};
test 'items of orders: prefetch, groups, products' => sub {
	$s->resultset('Product')->populate([map { { product_id => $_, name => "p$_", price => $_ } } 1 .. 3]);
	my @list = buyers(6);
	my @all = ordered(@list);
	for my $i (0 .. 5) {
		$all[$i]->create_related(items => { product_id => $_, quantity => $i, price => $_ }) for 1 .. 3;
	}
	my $mine = $orders->search({ buyer_uid => \@list });
	my @found = $mine->search({}, { prefetch => { items => 'product' }, order_by => [qw(me.buyer_uid product.product_id)] })->all;
	equal([map { [map { [$_->product->name, $_->quantity] } $_->items->all] } @found], [map { my $i = $_; [map { ["p$_", $i] } 1 .. 3] } 0 .. 5]);
	my $sums = $mine->search_related('items', {}, { select => ['items.product_id', { sum => 'items.quantity' }], as => [qw(p n)], group_by => 'items.product_id', order_by => 'items.product_id' });
	equal([map { [$_->get_column('p'), $_->get_column('n')] } $sums->all], [[1, 15], [2, 15], [3, 15]]);
	equal([0 + $all[0]->items->delete, $all[0]->items->count], [3, 0]);
};
test 'counts, sums and pages over the shards' => sub {
	my @list = buyers(10);
	ordered(@list);
	my $mine = $orders->search({ buyer_uid => \@list });
	equal([$mine->count, $mine->get_column('amount')->sum, $mine->get_column('buyer_uid')->max], [10, '125.00', $list[9]]);
	equal([map { $mine->search({}, { order_by => { -desc => 'buyer_uid' }, rows => 4, page => $_ })->get_column('buyer_uid')->all } 1 .. 4], [reverse @list]);
};
test 'transactions of two buyers, with nested savepoints' => sub {
	my ($p, $q) = ordered(buyers(2));
	my $states = sub { return [map { $_->get_from_storage->status } $p, $q] };
	$s->txn_do(sub {
		$p->update({ status => 'paid' });
		eval { $s->txn_do(sub { $orders->search({ order_id => $q->order_id })->update({ status => 'lost' }); $s->txn_do(sub { $orders->search({ order_id => $p->order_id })->update({ status => 'lost' }) }); die 'back' }) };
		$s->txn_do(sub { $q->update({ status => 'packed' }) });
		equal($orders->find($p->order_id, { for => 'update' })->status, 'paid');
	});
	equal($states->(), [qw(paid packed)]);
	eval { $s->txn_do(sub { $orders->search({ order_id => $_->order_id })->update({ status => 'gone' }) for $p, $q; die 'back' }) };
	equal($states->(), [qw(paid packed)]);
};
finish;
