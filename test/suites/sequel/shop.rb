# Sequel on the shop's tables, whose IDs and order numbers the proxy generates.
require_relative '../scenarios/harness'
require 'sequel'

DB = Sequel.connect(adapter: 'mysql2', database: DATABASE, encoding: 'utf8mb4', max_connections: 5, **ENDPOINT)

class Order < Sequel::Model(:test_order)
  one_to_many :items, key: :order_id
end
class Item < Sequel::Model(:order_item)
  many_to_one :order, key: :order_id
  many_to_one :product, key: :product_id
end
class Product < Sequel::Model(:product)
  unrestrict_primary_key
end

$next = 11_000
def buyers(count) = Array.new(count) { $next += 1 }
def ordered(list) = list.map { |b| Order.create(buyer_uid: b, amount: '12.50') }

test 'the generated ID is the key of the model, and finds it, as do owner and number' do
  ordered(buyers(8)).each do |o|
    equal(o.order_id > 2**40, true)
    %i[buyer_uid order_no order_id].each { |c| equal(Order.first(c => o[c]).order_id, o.order_id) }
  end
end
test 'rows of several buyers in one insert' do
  list = buyers(9)
  DB[:test_order].import(%i[buyer_uid amount], list.map { |b| [b, 1] })
  equal(Order.where(buyer_uid: list).select_order_map(:buyer_uid), list)
  equal(Order.where(buyer_uid: list).select_map(:order_id).uniq.size, 9)
end
test 'update, delete, refused writes' do
  o, other = ordered(buyers(2))
  o.update(status: 'paid')
  equal(Order.where(order_id: o.order_id).update(amount: Sequel[:amount] + 1), 1)
  equal(o.refresh.values.values_at(:status, :amount, :version), ['paid', BigDecimal('13.50'), 3])
  o.delete
  equal([Order[o.order_id], Order.where(buyer_uid: other.buyer_uid).delete], [nil, 1])
  equal(refused { Order.where(status: 'none').delete }[1].include?('locus-'), true)
end
test 'upsert by the ID' do
  o, = ordered(buyers(1))
  row = o.values.slice(:order_id, :order_no, :buyer_uid, :version)
  DB[:test_order].on_duplicate_key_update(:amount).insert(row.merge(amount: 99))
  DB[:test_order].insert_ignore.insert(row)
  equal(Order.where(buyer_uid: o.buyer_uid).select_map(%i[order_id amount]), [[o.order_id, BigDecimal('99')]])
end
test 'items of orders: eager loading, joins, products' do
  Product.multi_insert([1, 2, 3].map { |p| { product_id: p, name: "p#{p}", price: p } })
  list = buyers(6)
  ordered(list).each_with_index { |o, i| Item.multi_insert([1, 2, 3].map { |p| { order_id: o.order_id, product_id: p, quantity: i, price: p } }) }
  mine = Order.where(buyer_uid: list).order(:buyer_uid)
  mine.eager(items: :product).all.each_with_index { |o, i| equal(o.items.map { |x| [x.product.name, x.quantity] }.sort, [['p1', i], ['p2', i], ['p3', i]]) }
  equal(mine.eager_graph(:items).all.map { |o| o.items.size }, [3] * 6)
  equal(mine.association_join(:items).unordered.group(:product_id).order(:product_id).select_map { [product_id, sum(quantity).as(:n)] }.map { |p, n| [p, n.to_i] }, [[1, 15], [2, 15], [3, 15]])
  equal(mine.first.items_dataset.delete, 3)
  equal(mine.exclude(order_id: Item.select(:order_id)).select_map(:buyer_uid), [list[0]])
end
test 'counts, sums and pages over the shards' do
  list = buyers(10)
  ordered(list)
  mine = Order.where(buyer_uid: list)
  equal([mine.count, mine.sum(:amount), mine.max(:buyer_uid)], [10, BigDecimal('125'), list[9]])
  equal([0, 4, 8, 12].flat_map { |from| mine.reverse(:buyer_uid).limit(4, from).select_map(:buyer_uid) }, list.reverse)
  seen = []
  DB.transaction { mine.order(:buyer_uid).paged_each(rows_per_fetch: 3) { |o| seen << o.buyer_uid } }
  equal(seen, list)
end
test 'transactions of two buyers, with nested savepoints' do
  a, b = ordered(buyers(2))
  states = -> { [a, b].map { |o| o.refresh.status } }
  DB.transaction do
    a.update(status: 'paid')
    DB.transaction(savepoint: true) do
      b.update(status: 'lost')
      DB.transaction(savepoint: true) { Order.where(order_id: a.order_id).update(status: 'lost') }
      raise Sequel::Rollback
    end
    DB.transaction(savepoint: true) { b.this.update(status: 'packed') }
    equal(a.lock!.status, 'paid')
  end
  equal(states[], %w[paid packed])
  DB.transaction { [a, b].each { |o| o.this.update(status: 'gone') }; raise Sequel::Rollback }
  equal(states[], %w[paid packed])
end
test 'prepared statements' do
  find = DB[:test_order].where(buyer_uid: :$buyer).prepare(:first, :by_buyer)
  ordered(buyers(5)).each { |o| equal(find.call(buyer: o.buyer_uid)[:order_id], o.order_id) }
end
