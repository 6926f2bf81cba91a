"""Peewee on the shop's tables, whose IDs and order numbers the proxy generates."""
from decimal import Decimal

from harness import database, end, endpoint, refused, test
from peewee import JOIN, BigIntegerField, CharField, DecimalField, ForeignKeyField, IntegerField, Model, MySQLDatabase, fn, prefetch

db = MySQLDatabase(database, charset='utf8mb4', **endpoint)


class Base(Model):
    class Meta:
        database = db


class Product(Base):
    product_id = BigIntegerField(primary_key=True)
    name = CharField(64)
    price = DecimalField(12, 2)


class TestOrder(Base):
    order_id = BigIntegerField(primary_key=True)
    order_no = BigIntegerField()
    buyer_uid = BigIntegerField()
    amount = DecimalField(12, 2, default=0)
    status = CharField(16, default='new')
    version = BigIntegerField()

    class Meta:
        table_name = 'test_order'


class OrderItem(Base):
    item_id = BigIntegerField(primary_key=True)
    order = ForeignKeyField(TestOrder, backref='items')
    product = ForeignKeyField(Product)
    quantity = IntegerField(default=1)
    price = DecimalField(12, 2, default=0)

    class Meta:
        table_name = 'order_item'


free = iter(range(8000, 9000))


def buyers(n):
    return [next(free) for _ in range(n)]


def ordered(list_, amount='12.50'):
    """ordered inserts an order for each buyer, and reads it by the ID that the insert returned."""
    return [TestOrder.get_by_id(TestOrder.insert(buyer_uid=b, amount=amount).execute()) for b in list_]


def equal(got, want):
    assert got == want, f'{got!r}, want {want!r}'


@test('the stamped ID comes back, and finds the order, as do owner and number')
def _():
    for o in ordered(buyers(8)):
        assert o.order_id > 2 ** 40
        for found in (TestOrder.get(TestOrder.buyer_uid == o.buyer_uid), TestOrder.get(TestOrder.order_no == o.order_no)):
            equal(found.order_id, o.order_id)
        equal(TestOrder.get_or_none(TestOrder.order_id == o.order_id + 1), None)


@test('rows of several buyers in one insert')
def _():
    list_ = buyers(9)
    with db.atomic():
        TestOrder.insert_many([(b, 2) for b in list_], fields=[TestOrder.buyer_uid, TestOrder.amount]).execute()
    found = TestOrder.select().where(TestOrder.buyer_uid.in_(list_))
    equal(sorted(o.buyer_uid for o in found), list_)
    equal(len({o.order_id for o in found} | {o.order_no for o in found}), 18)


@test('update, save, delete')
def _():
    o, other = ordered(buyers(2))
    equal(TestOrder.update(status='paid', amount=TestOrder.amount + 1).where(TestOrder.order_id == o.order_id).execute(), 1)
    o = TestOrder.get_by_id(o.order_id)
    equal((o.status, o.amount, o.version), ('paid', Decimal('13.50'), 2))
    o.status = 'sent'
    equal(o.save(only=[TestOrder.status]), 1)
    equal(TestOrder.get(TestOrder.order_no == o.order_no).status, 'sent')
    equal(o.delete_instance(), 1)
    equal(TestOrder.get_or_none(TestOrder.order_id == o.order_id), None)
    equal(TestOrder.delete().where(TestOrder.buyer_uid == other.buyer_uid).execute(), 1)


@test('writes to all shards are refused')
def _():
    for query in (TestOrder.update(status='x'), TestOrder.delete().where(TestOrder.status == 'none')):
        assert 'locus-' in refused(query.execute)[2]


@test('upsert by the ID')
def _():
    [o] = ordered(buyers(1))
    TestOrder.insert(order_id=o.order_id, order_no=o.order_no, buyer_uid=o.buyer_uid, amount=99, version=1).on_conflict(preserve=[TestOrder.amount]).execute()
    TestOrder.insert(order_id=o.order_id, order_no=o.order_no, buyer_uid=o.buyer_uid, version=1).on_conflict_ignore().execute()
    equal([(x.order_id, x.amount) for x in TestOrder.select().where(TestOrder.buyer_uid == o.buyer_uid)], [(o.order_id, Decimal('99.00'))])


@test('items of orders: eager loading, joins and products')
def _():
    Product.insert_many([(p, f'p{p}', p) for p in (1, 2, 3)], fields=[Product.product_id, Product.name, Product.price]).execute()
    list_ = buyers(6)
    all_ = ordered(list_)
    for i, o in enumerate(all_):
        OrderItem.insert_many([{'order': o.order_id, 'product': p, 'quantity': i, 'price': p} for p in (1, 2, 3)]).execute()
    mine = TestOrder.select().where(TestOrder.buyer_uid.in_(list_)).order_by(TestOrder.buyer_uid)
    for i, o in enumerate(prefetch(mine, OrderItem.select().order_by(OrderItem.product))):
        equal([(x.product_id, x.quantity) for x in o.items], [(1, i), (2, i), (3, i)])
    joined = OrderItem.select(TestOrder.buyer_uid, Product.name).join(TestOrder).switch(OrderItem).join(Product).where(TestOrder.buyer_uid.in_(list_))
    equal(sorted(joined.tuples()), [(b, f'p{p}') for b in list_ for p in (1, 2, 3)])
    sums = TestOrder.select(TestOrder.buyer_uid, fn.SUM(OrderItem.quantity * OrderItem.price)).join(OrderItem, JOIN.LEFT_OUTER).where(TestOrder.buyer_uid.in_(list_)).group_by(TestOrder.buyer_uid).order_by(TestOrder.buyer_uid)
    equal(list(sums.tuples()), [(b, Decimal(6 * i)) for i, b in enumerate(list_)])
    for o in all_:
        equal(OrderItem.delete().where(OrderItem.order == o.order_id).execute(), 3)


@test('counts, sums and pages over the shards')
def _():
    list_ = buyers(10)
    ordered(list_)
    mine = TestOrder.select().where(TestOrder.buyer_uid.in_(list_))
    equal((mine.count(), mine.select(fn.SUM(TestOrder.amount)).scalar(), mine.select(fn.AVG(TestOrder.amount)).scalar()), (10, Decimal('125.00'), Decimal('12.5')))
    pages = [[o.buyer_uid for o in mine.order_by(TestOrder.buyer_uid.desc()).paginate(page, 4)] for page in (1, 2, 3, 4)]
    equal(pages, [list_[:-5:-1], list_[5:1:-1], list_[1::-1], []])
    equal(sorted(o.buyer_uid for o in mine.iterator()), list_)


@test('transactions of two buyers, with nested savepoints')
def _():
    a, b = ordered(buyers(2))

    def pay(o, status):
        equal(TestOrder.update(status=status).where(TestOrder.order_id == o.order_id).execute(), 1)

    def states():
        return [TestOrder.get_by_id(o.order_id).status for o in (a, b)]
    with db.atomic():
        pay(a, 'paid')
        with db.atomic() as inner:
            pay(b, 'lost')
            with db.savepoint():
                pay(a, 'lost')
            inner.rollback()
        with db.atomic():
            pay(b, 'packed')
        equal(states(), ['paid', 'packed'])
    equal(states(), ['paid', 'packed'])
    with db.atomic() as t:
        pay(a, 'gone')
        pay(b, 'gone')
        t.rollback()
    equal(states(), ['paid', 'packed'])
    with db.atomic():
        equal(TestOrder.select().where(TestOrder.order_id == a.order_id).for_update().get().status, 'paid')


end()
