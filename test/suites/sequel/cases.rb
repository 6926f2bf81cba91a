# Sequel on tables that their comments shard: users by their ID, orders and items by their user; tags are global.
require_relative '../scenarios/harness'
require 'sequel'

DB = Sequel.connect(adapter: 'mysql2', database: DATABASE, encoding: 'utf8mb4', max_connections: 5, test: true, **ENDPOINT)
Sequel.extension :migration, :core_extensions
Sequel::Model.plugin :eager_each
Sequel.default_timezone = :utc

# create makes a table. Sequel writes what is after the engine's name as it is.
def create(table, words, &define)
  DB.create_table(table, engine: "InnoDB COMMENT 'locus: #{words}'", &define)
end

create(:users, 'owner=id') do
  primary_key :id, type: :Bignum
  String :name, size: 40, null: false
  Integer :age
  TrueClass :active, default: true
end
create(:orders, 'owner=user_id') do
  primary_key :id, type: :Bignum
  foreign_key :user_id, :users, type: :Bignum, null: false
  String :status, size: 16, default: 'new'
  BigDecimal :amount, size: [12, 2], default: 0
end
create(:items, 'owner=user_id') do
  primary_key :id, type: :Bignum
  Bignum :user_id, null: false, index: true
  Bignum :order_id, null: false, index: true
  String :sku, size: 30
  Integer :quantity, default: 1
end
create(:tags, 'global') do
  primary_key :id, type: :Bignum
  String :name, size: 20, unique: true
end
create(:user_tags, 'owner=user_id') do
  Bignum :user_id
  Bignum :tag_id
  String :note, size: 20
  primary_key %i[user_id tag_id]
end

class User < Sequel::Model
  one_to_many :orders
  one_to_many :items
  many_to_many :tags, join_table: :user_tags
  one_to_one :top, class: :Order, order: Sequel.desc(:amount)
  dataset_module { def of(kind) = where(Sequel.like(:name, "#{kind}%")) }
end
class Order < Sequel::Model
  many_to_one :user
  one_to_many :items
end
class Item < Sequel::Model
  many_to_one :order
  many_to_one :user
end
class Tag < Sequel::Model
  many_to_many :users, join_table: :user_tags
end

# people makes users of a case, each with as many orders as its place in the list, of two items each.
def people(kind, count = 6)
  Array.new(count) do |i|
    user = User.create(name: "#{kind}#{i}", age: i == 3 ? nil : 20 + i)
    i.times do |k|
      order = user.add_order(amount: BigDecimal('1.25') * (k + 1), status: k.odd? ? 'paid' : 'new')
      2.times { |x| order.add_item(user_id: user.id, sku: "#{kind}-#{i}-#{k}-#{x}", quantity: x + 1) }
    end
    user
  end
end

def names(dataset) = dataset.order(:name).select_map(:name)

test 'create, find, refresh, update, save, delete' do
  u = User.create(name: 'create', age: 5)
  out = [u.id.positive?, u.active, User[u.id].name, User[-1], User.first(name: 'create').age, User.with_pk!(u.id).values.slice(:name, :age)]
  u.age = 6
  out << [u.modified?, !u.save_changes.nil?, User[u.id].age, !u.update(name: 'create2').nil?, u.refresh.name, u.delete.exists?, refused { u.refresh }]
end
test 'insert, multi_insert, import, insert of a query' do
  id = DB[:users].insert(name: 'insert')
  out = [DB[:users].first(id: id)[:name]]
  DB[:users].multi_insert(Array.new(9) { |i| { name: "insert#{i}", age: i } })
  DB[:users].import(%i[name age], Array.new(7) { |i| ["insert-#{i}", i] }, slice: 3)
  tag = Tag.create(name: 'insert')
  DB[:user_tags].insert(%i[user_id tag_id note], User.of('insert').select(:id, tag.id, :name).naked)
  out << [User.of('insert').distinct.count, DB[:user_tags].where(tag_id: tag.id).select_order_map(:note)]
end
test 'insert_conflict, insert_ignore, replace, find_or_create' do
  tag = Tag.create(name: 'upsert')
  users = people('upsert', 3)
  ds = DB[:user_tags]
  rows = users.map { |u| { user_id: u.id, tag_id: tag.id, note: 'a' } }
  ds.multi_insert(rows)
  ds.on_duplicate_key_update(:note).multi_insert(rows.map { |r| r.merge(note: 'b') })
  ds.on_duplicate_key_update(note: Sequel.join([:note, 'c'])).insert(rows[0])
  ds.insert_ignore.multi_insert(rows)
  ds.replace(rows[1].merge(note: 'd'))
  a = User.find_or_create(name: 'upsert-new') { |u| u.age = 1 }
  b = User.find_or_create(name: 'upsert-new') { |u| u.age = 2 }
  [ds.join(:users, id: :user_id).where(tag_id: tag.id).order(:name).select_map(%i[name note]), a == b, b.age]
end
test 'where' do
  people('where')
  q = User.of('where')
  [
    q.where { age > 22 }, q.where(age: nil), q.where(age: 21..24), q.where(name: %w[where1 where5]), q.exclude(name: 'where1'), q.where(Sequel.|({ age: 20 }, { age: 25 })), q.where(Sequel.lit('age % 2 = ?', 1)), q.where(active: true), q.invert.of('where'),
    q.where(id: Order.where(status: 'paid').select(:user_id)), q.where(Order.where(user_id: Sequel[:users][:id]).where { amount > 3 }.exists), q.where(orders: Order.where { amount > 5 }), q.where(Sequel.ilike(:name, 'WHERE2')), q.grep(:name, %w[%1 %2]), q.where(name: /e[45]$/i)
  ].map { |d| names(d) }
end
test 'update and delete of many' do
  users = people('change')
  mine = Order.where(user_id: users.map(&:id))
  own = User.where(id: users.map(&:id))
  out = [User.of('change').where { age > 21 }.update(active: false), User.of('change').update(age: Sequel[:age] + 1), mine.where { amount > 2 }.update(status: 'x'), Item.where(user_id: own.select(:id)).delete]
  out += [own.reverse(:name).limit(2).update(age: 0), own.order(:name).limit(1).delete, DB[:users].join(:orders, user_id: :id).where(name: own.select_map(:name)).where { amount > 5 }.update(status: 'y', age: 77)]
  out << DB[:orders].join(:users, id: :user_id).where(name: 'change4').delete
  [*out, User.of('change').order(:name).select_map(%i[name age active]), mine.order(:amount, :status).select_map(%i[amount status])]
end
test 'associations: eager, eager_graph, lazy, limited' do
  people('eager', 5)
  users = User.of('eager').order(:name)
  deep = users.eager(orders: { proc { |ds| ds.order(:amount) } => :items }).all
  out = [deep.map { |u| [u.name, u.orders.map { |o| [o.amount, o.items.map(&:sku).sort] }] }]
  out << User.where(Sequel.like(Sequel[:users][:name], 'eager%')).eager_graph(orders: :items).order(Sequel[:users][:name], Sequel[:orders][:amount], :sku).all.map { |u| [u.name, u.orders.map { |o| o.items.map(&:sku) }] }
  out << users.eager(:top).all.map { |u| u.top&.amount }
  out << Item.where(Sequel.like(:sku, 'eager-%')).eager(order: :user).order(:sku).map { |i| i.order.user.name }
  u = User.first(name: 'eager4')
  [*out, u.orders_dataset.sum(:amount), u.items_dataset.count, u.orders_dataset.where(status: 'paid').select_order_map(:amount), users.association_join(:orders).select_map([Sequel[:users][:name], :amount]).sort]
end
test 'many to many' do
  users = people('tagged', 4)
  tags = %w[a b c].map { |n| Tag.create(name: "tagged-#{n}") }
  users.each_with_index { |u, i| tags.first(i).each { |t| u.add_tag(t) } }
  users[2].remove_tag(tags[0])
  users[3].remove_all_tags
  [User.of('tagged').order(:name).eager(:tags).all.map { |u| u.tags.map(&:name).sort }, Tag.where(Sequel.like(:name, 'tagged%')).order(:name).eager(:users).all.map { |t| t.users.map(&:name).sort }, names(User.where(tags: tags[1]))]
end
test 'aggregates and groups' do
  ids = people('group').map(&:id)
  q = User.of('group')
  mine = Order.where(user_id: ids)
  [
    q.count, q.sum(:age), q.avg(:age), q.max(:age), q.min(:name), q.empty?, mine.count, mine.select(:amount).distinct.count, mine.select_order_map(:amount).uniq, mine.group_and_count(:status).order(:status).map(&:values), q.get { [min(age).as(:a), max(age).as(:b)] },
    DB[:users].left_join(:orders, user_id: :id).where(Sequel.like(:name, 'group%')).group(:name).having { count(amount) > 1 }.order(Sequel.desc(:n)).select { [name, count(amount).as(:n), sum(amount).as(:s)] }.all, mine.select_hash_groups(:status, :amount).transform_values(&:sort)
  ]
end
test 'pages, paged_each, stream' do
  people('page', 9)
  q = User.of('page').order(Sequel.desc(:age), :name)
  paged = []
  q.paged_each(rows_per_fetch: 4) { |u| paged << u.name }
  keyset = []
  q.paged_each(rows_per_fetch: 4, strategy: :filter, filter_values: ->(row, exprs) { exprs.map { |e| row[e.is_a?(Sequel::SQL::OrderedExpression) ? e.expression : e] } }) { |u| keyset << u.name } rescue keyset = 'refused'
  pages = q.extension(:pagination).paginate(2, 4)
  [q.limit(4).map(:name), q.limit(4, 4).map(:name), q.offset(7).limit(9).map(:name), paged, keyset, pages.map(:name), [pages.page_count, pages.pagination_record_count, pages.next_page], q.where { name > 'page5' }.limit(2).map(:name), q.first.name, q.last.name]
end
test 'subqueries, with, unions, windows' do
  people('sub')
  spent = DB[:orders].select_group(:user_id).select_append { sum(amount).as(:total) }
  one = ->(n) { DB[:users].select(:name).where(name: n) }
  old = DB[:users].where(name: %w[sub2 sub4 sub5]).select(:name, :age)
  [
    DB[:users].join(spent.as(:spent), user_id: :id).where(Sequel.like(:name, 'sub%')).order(:name).select_map(%i[name total]), one['sub1'].union(one['sub2']).order(:name).map(:name), one['sub1'].union(one['sub1'], all: true).count, DB[:old].with(:old, old).join(Sequel[:old].as(:o), age: Sequel[:old][:age] + 1).order(Sequel[:o][:name]).select_map(Sequel[:o][:name]),
    DB[:n].with_recursive(:n, DB.select(Sequel.as(1, :i)), DB[:n].select(Sequel[:i] + 1).where { i < 5 }, args: [:i]).sum(:i), User.of('sub').exclude(age: nil).select { [name, rank.function.over(order: Sequel.desc(:age)).as(:r)] }.order(:r).map { |u| [u.name, u[:r]] },
    User.of('sub').order(:name).select(:name, Order.where(user_id: Sequel[:users][:id]).select { count.function.* }.as(:n)).map { |u| u[:n] }, User.of('sub').order(:name).select_map([:name, Sequel.case([[Sequel[:age] > 23, 'old'], [{ age: nil }, 'unknown']], 'young').as(:kind)])
  ]
end
test 'change the first rows of those that LIKE finds' do # which Sequel writes as LIKE BINARY
  people('first', 4)
  [User.of('first').reverse(:name).limit(2).update(age: 0), User.of('first').order(:name).limit(1).delete, User.of('first').order(:name).select_map(%i[name age])]
end
test 'a common table expression with LIKE that is read twice' do
  people('twice')
  old = DB[:users].where(Sequel.like(:name, 'twice%')).where { age > 21 }.select(:name, :age)
  DB[:old].with(:old, old).join(Sequel[:old].as(:o), age: Sequel[:old][:age] + 1).order(Sequel[:o][:name]).select_map(Sequel[:o][:name])
end
test 'transactions and nested savepoints over several users' do
  users = people('trx', 4)
  ages = -> { User.of('trx').order(:name).select_map(:age) }
  set = ->(i, age) { User.where(id: users[i].id).update(age: age) }
  out = [DB.transaction { 4.times { |i| set[i, 1] }; raise Sequel::Rollback }, ages[]]
  DB.transaction(isolation: :committed) do
    set[0, 50]
    DB.transaction(savepoint: true) do
      set[1, 51]
      DB.transaction(savepoint: true) { set[2, 52]; set[0, 52]; raise Sequel::Rollback }
      set[3, 53]
    end
    out << ages[]
    DB.transaction(savepoint: true, rollback: :always) { User.where(id: users[1].id).update(name: 'gone') }
    DB.transaction(auto_savepoint: true) { DB.transaction { set[2, 54] } }
  end
  hooks = []
  DB.transaction { DB.after_commit { hooks << :commit }; set[3, 99]; DB.rollback_on_exit }
  [*out, ages[], hooks, DB.in_transaction?]
end
test 'locking reads' do
  users = people('lock', 3)
  DB.transaction { [User.for_update.with_pk(users[0].id).name, names(User.of('lock').for_share), users[1].lock!.name, names(User.of('lock').for_update.nowait)] }
end
test 'prepared statements' do
  users = people('prepared', 4)
  find = DB[:users].where(id: :$id).where { age > :$age }.prepare(:first, :find_user)
  put = DB[:user_tags].prepare(:insert, :put_tag, user_id: :$user, tag_id: :$tag, note: :$note)
  change = DB[:user_tags].where(user_id: :$user).prepare(:update, :change_tag, note: :$note)
  out = users.map { |u| find.call(id: u.id, age: 21)&.fetch(:name) }
  users.each_with_index { |u, i| put.call(user: u.id, tag: 9, note: "n#{i}") }
  [*out, change.call(user: users[1].id, note: 'changed'), DB[:user_tags].where(user_id: users.map(&:id)).select_order_map(:note), DB.call(:find_user, id: users[2].id, age: 0)[:name]]
end
test 'errors' do
  Tag.create(name: 'error')
  [-> { Tag.create(name: 'error') }, -> { DB.run('SELEC 1') }, -> { DB[:missing].all }, -> { DB[:users].select(:missing).all }, -> { User.create(name: 'x' * 50) }, -> { DB[:users].insert(name: nil) }, -> { Order.create(user_id: 123_456_789) }].map { |f| refused(&f) }
end
test 'types' do
  create(:kinds, 'owner=user_id') do
    Bignum :user_id, primary_key: true
    String :text, text: true
    File :blob
    Float :double
    BigDecimal :exact, size: [20, 6]
    DateTime :at
    Date :day
    Time :clock, only_time: true
    column :json, :json
    enum :kind, elements: %w[a b]
    TrueClass :flag
  end
  3.times { |i| DB[:kinds].insert(user_id: i + 1, text: "ä€😀\\#{"'" * i}", blob: Sequel.blob("\x00\xff'\\#{i}"), double: 1.5 * i, exact: BigDecimal('12345678901234.123456'), at: Time.utc(2026, 2, 3, i), day: Date.new(2026, 2, 3), clock: Sequel::SQLTime.create(1, 2, i), json: "{\"i\": #{i}}", kind: 'b', flag: i.odd?) }
  out = [DB[:kinds].order(:user_id).all, DB[:kinds].sum(:exact), DB[:kinds].select_order_map(Sequel.extract(:hour, :at))]
  DB.drop_table(:kinds)
  out
end
test 'migrations of a sharded table, and introspection' do
  steps = [
    Sequel.migration do
      up { create(:parcels, 'owner=user_id') { primary_key :id; foreign_key :user_id, :users, type: :Bignum, null: false; String :note, size: 20 } }
      down { drop_table :parcels }
    end,
    Sequel.migration do
      up { alter_table(:parcels) { add_column :weight, Integer, default: 7, null: false; add_index %i[weight note], name: :by_weight; set_column_type :note, String, size: 60 } }
      down { alter_table(:parcels) { drop_index nil, name: :by_weight; drop_column :weight } }
    end,
    Sequel.migration do
      up { alter_table(:parcels) { rename_column :weight, :grams; set_column_allow_null :grams; set_column_default :grams, 9 }; rename_table :parcels, :crates }
      down { rename_table :crates, :parcels; alter_table(:parcels) { rename_column :grams, :weight } }
    end
  ]
  up = ->(i) { steps[i].apply(DB, :up) }
  up[0]
  people('parcel', 4).each { |u| DB[:parcels].multi_insert([{ user_id: u.id, note: "#{u.name} a" }, { user_id: u.id, note: "#{u.name} b" }]) }
  up[1]
  out = [DB[:parcels].where { note > 'parcel2' }.update(weight: 8), DB.schema(:parcels).map { |n, c| [n, c[:db_type], c[:allow_null], c[:primary_key], c[:ruby_default]] }, DB.indexes(:parcels).to_a.sort, DB.foreign_key_list(:parcels)]
  up[2]
  out << [DB.table_exists?(:parcels), DB.tables.include?(:crates), DB[:crates].order(:note).select_map(%i[note grams]), DB[:crates].columns]
  steps.reverse_each { |s| s.apply(DB, :down) }
  [*out, DB.table_exists?(:parcels)]
end
test 'views, truncate and drop' do
  create(:scraps, 'owner=id') { primary_key :id; String :name, size: 20 }
  DB[:scraps].import([:name], Array.new(8) { |i| ["scrap#{i}"] })
  DB.create_or_replace_view(:late, DB[:scraps].where { name > 'scrap5' }.select(:name))
  out = [DB[:late].order(:name).map(:name), DB.views]
  DB.drop_view(:late)
  DB[:scraps].truncate
  out << DB[:scraps].count
  DB.drop_table(:scraps)
  [*out, DB.table_exists?(:scraps)]
end
