"""Peewee on tables that their comments shard: users by their ID, orders and items by their user; tags are global."""
import datetime
import decimal

from harness import database, end, endpoint, refused, test
from peewee import (JOIN, SQL, BigAutoField, BlobField, BooleanField, Case, CharField, DateTimeField, DecimalField, DoubleField, ForeignKeyField,
                    IntegerField, Model, MySQLDatabase, TextField, TimeField, Window, chunked, fn, prefetch)
from playhouse.migrate import MySQLMigrator, migrate
from playhouse.reflection import generate_models
from playhouse.shortcuts import model_to_dict

db = MySQLDatabase(database, charset='utf8mb4', **endpoint)


class Base(Model):
    class Meta:
        database = db
        legacy_table_names = False


class User(Base):
    id = BigAutoField()
    name = CharField(40)
    age = IntegerField(null=True)
    active = BooleanField(default=True)

    class Meta:
        table_name = 'users'
        table_settings = ["COMMENT='locus: owner=id'"]


class Order(Base):
    id = BigAutoField()
    user = ForeignKeyField(User, backref='orders')
    status = CharField(16, default='new')
    amount = DecimalField(12, 2, default=0)
    created = DateTimeField(default=datetime.datetime(2026, 1, 2, 3, 4, 5))

    class Meta:
        table_name = 'orders'
        table_settings = ["COMMENT='locus: owner=user_id'"]


class Item(Base):
    id = BigAutoField()
    user = ForeignKeyField(User, backref='items')
    # Without a constraint: it would not contain the owner.
    order = ForeignKeyField(Order, backref='items', _deferred=True)
    sku = CharField(20)
    quantity = IntegerField(default=1)

    class Meta:
        table_name = 'items'
        table_settings = ["COMMENT='locus: owner=user_id'"]


class Tag(Base):
    id = BigAutoField()
    name = CharField(20, unique=True)

    class Meta:
        table_name = 'tags'
        table_settings = ["COMMENT='locus: global'"]


class UserTag(Base):
    user = ForeignKeyField(User, backref='tagged')
    tag = ForeignKeyField(Tag, backref='tagged', _deferred=True)
    note = CharField(20, null=True)

    class Meta:
        table_name = 'user_tags'
        primary_key = False
        indexes = ((('user', 'tag'), True),)
        table_settings = ["COMMENT='locus: owner=user_id'"]


db.create_tables([User, Order, Item, Tag, UserTag])


def people(kind, n=6):
    """people makes users of a case, each with as many orders as its place in the list, of two items each."""
    users = [User.create(name=f'{kind}{i}', age=None if i == 3 else 20 + i) for i in range(n)]
    for i, user in enumerate(users):
        for k in range(i):
            order = Order.create(user=user, amount=decimal.Decimal('1.25') * (k + 1), status='paid' if k % 2 else 'new')
            Item.insert_many([{'user': user, 'order': order, 'sku': f'{kind}-{i}-{k}-{x}', 'quantity': x + 1} for x in range(2)]).execute()
    return users


def of(kind):
    return User.name.startswith(kind)


def names(query):
    return [u.name for u in query]


@test('create, get, get_or_none, get_by_id, reload')
def _():
    u = User.create(name='create', age=5)
    found = User.get_by_id(u.id)
    return [u.id is not None, found.name, found.age, found.active, User.get_or_none(User.id == -1), User.get(User.name == 'create').id == u.id,
            model_to_dict(found, exclude=[User.id]), type(refused(lambda: User.get_by_id(-1))).__name__]


@test('save, dirty fields, update of one, delete_instance')
def _():
    u = User.create(name='save', age=1)
    u.age = 2
    out = [u.save(only=u.dirty_fields)]
    out += [User.get_by_id(u.id).age, User.set_by_id(u.id, {'age': 3}), User.get_by_id(u.id).age, u.delete_instance(), User.get_or_none(User.id == u.id)]
    return out


@test('insert_many, bulk_create, bulk_update')
def _():
    out = []
    User.insert_many([{'name': f'many{i}', 'age': i} for i in range(12)]).execute()
    with db.atomic():
        for batch in chunked([(f'chunk{i}', i) for i in range(9)], 4):
            User.insert_many(batch, fields=[User.name, User.age]).execute()
    User.bulk_create([User(name=f'bulk{i}', age=i) for i in range(7)], batch_size=3)
    bulk = list(User.select().where(of('bulk')))
    for u in bulk:
        u.age += 100
    User.bulk_update(bulk, fields=[User.age], batch_size=3)
    for kind in ('many', 'chunk', 'bulk'):
        query = User.select(User.name, User.age).where(of(kind)).order_by(User.age).tuples()
        out += [User.select().where(of(kind)).distinct().count(), list(query)]
    return out


@test('insert from a query')
def _():
    people('query', 4)
    Tag.insert_many([{'name': n} for n in ('query-a', 'query-b')]).execute()
    tag = Tag.get(Tag.name == 'query-a')
    query = User.select(User.id, SQL(str(tag.id)), User.name).where(of('query'))
    UserTag.insert_from(query, [UserTag.user, UserTag.tag, UserTag.note]).execute()
    return [sorted(t.note for t in UserTag.select().where(UserTag.tag == tag))]
    return out


@test('on_conflict: ignore, replace, preserve, update; get_or_create')
def _():
    users = people('conflict', 3)
    tag = Tag.create(name='conflict')
    rows = [{'user': u, 'tag': tag, 'note': 'a'} for u in users]
    UserTag.insert_many(rows).execute()
    UserTag.insert(user=users[0], tag=tag, note='ignored').on_conflict_ignore().execute()
    UserTag.insert_many([{**r, 'note': 'b'} for r in rows]).on_conflict(preserve=[UserTag.note]).execute()
    UserTag.insert(user=users[1], tag=tag, note='c').on_conflict(update={UserTag.note: fn.CONCAT(UserTag.note, 'd')}).execute()
    UserTag.replace(user=users[2], tag=tag, note='e').execute()
    a, made = User.get_or_create(name='conflict-new', defaults={'age': 9})
    b, again = User.get_or_create(name='conflict-new', defaults={'age': 10})
    return [sorted(UserTag.select(User.name, UserTag.note).join(User).where(UserTag.tag == tag).tuples()), made, again, a.id == b.id, b.age]


@test('expressions in where')
def _():
    people('where')
    q = User.select().where(of('where')).order_by(User.name)
    return [names(q.where(e)) for e in (
        User.age > 22, User.age.is_null(), User.age.between(21, 24), User.name.in_(['where1', 'where5', 'none']), User.name.not_in(['where1']), ~(User.age == 22),
        (User.age == 20) | (User.age == 25), User.name.contains('E4'), User.name ** 'WHERE2', User.name % 'where%', User.age % 2 == 1,
        fn.LENGTH(User.name) == 6, User.active == True, User.id.in_(Order.select(Order.user).where(Order.status == 'paid')),  # noqa: E712
        fn.EXISTS(Order.select().where(Order.user == User.id, Order.amount > 3)))]


@test('update and delete of many')
def _():
    people('change')
    out = [User.update(age=User.age + 1).where(of('change')).execute(), User.update({User.active: False}).where(of('change'), User.age > 23).execute()]
    out += [list(User.select(User.name, User.age, User.active).where(of('change')).order_by(User.name).tuples())]
    mine = User.select(User.id).where(of('change'))
    out += [Order.update(status='x').where(Order.user.in_(mine), Order.amount > 2).execute(), Item.delete().where(Item.user.in_(mine)).execute()]
    out += [User.update(age=0).where(of('change')).order_by(User.name.desc()).limit(2).execute(), names(User.select().where(of('change'), User.age == 0).order_by(User.name))]
    return out


@test('joins')
def _():
    people('join')
    j = User.select(User.name, Order.amount).join(Order, JOIN.LEFT_OUTER).where(of('join')).order_by(User.name, Order.amount)
    three = Item.select(Item.sku, Order.status, User.name).join(Order).join(User).where(of('join')).order_by(Item.sku)
    other = User.alias()
    pairs = User.select(User.name, other.name.alias('other')).join(other, on=(other.age == User.age + 1)).where(of('join'), other.name.startswith('join')).order_by(User.name)
    return [list(j.tuples()), [(i.sku, i.order.status, i.order.user.name) for i in three], list(pairs.tuples())]


@test('prefetch, back-references, lazy loading')
def _():
    people('eager', 4)
    users = User.select().where(of('eager')).order_by(User.name)
    fetched = prefetch(users, Order.select().order_by(Order.amount), Item.select().order_by(Item.sku))
    out = [[u.name, [[o.amount, [i.sku for i in o.items]] for o in u.orders]] for u in fetched]
    lazy = [[u.name, [i.order.user.name for i in u.items.order_by(Item.sku)]] for u in users]
    return [out, lazy, model_to_dict(users[1], backrefs=True, recurse=True, exclude=[User.id, Order.id, Item.id, Order.user, Item.user, Item.order, User.tagged])]


@test('many to many by a global table')
def _():
    users = people('tagged', 4)
    tags = [Tag.create(name=f'tagged-{n}') for n in 'abc']
    UserTag.insert_many([{'user': u, 'tag': t} for i, u in enumerate(users) for t in tags[:i]]).execute()
    q = User.select(User.name, Tag.name.alias('tag')).join(UserTag).join(Tag).where(of('tagged')).order_by(User.name, Tag.name)
    per = Tag.select(Tag.name, fn.COUNT(UserTag.user).alias('n')).join(UserTag, JOIN.LEFT_OUTER).where(Tag.name.startswith('tagged')).group_by(Tag.name).order_by(Tag.name)
    return [list(q.tuples()), list(per.tuples())]


@test('aggregates, groups, having, distinct')
def _():
    people('group')
    per = (User.select(User.name, fn.COUNT(Order.id).alias('n'), fn.SUM(Order.amount).alias('s')).join(Order, JOIN.LEFT_OUTER).where(of('group'))
           .group_by(User.name).having(fn.COUNT(Order.id) > 1).order_by(SQL('n').desc()))
    all_ = User.select(fn.COUNT(User.id), fn.SUM(User.age), fn.AVG(User.age), fn.MIN(User.name), fn.MAX(User.age), fn.COUNT(fn.DISTINCT(User.active))).where(of('group'))
    mine = User.select(User.id).where(of('group'))
    by = Order.select(Order.status, fn.SUM(Order.amount), fn.GROUP_CONCAT(SQL('DISTINCT amount ORDER BY amount'))).where(Order.user.in_(mine)).group_by(Order.status).order_by(Order.status)
    return [list(per.tuples()), all_.scalar(as_tuple=True), list(by.tuples()), Order.select(Order.amount).where(Order.user.in_(mine)).distinct().count(),
            User.select().where(of('group')).count(), User.select().where(of('group')).exists()]


@test('pages, slices, iterators, raw and row types')
def _():
    people('page', 9)
    q = User.select(User.name, User.age).where(of('page')).order_by(User.age.desc(), User.name)
    return [names(q.paginate(2, 4)), names(q.limit(3).offset(5)), [u.name for u in q[1:4]], [u.name for u in q.iterator()], list(q.dicts())[:2], list(q.namedtuples())[0].name,
            names(User.raw('SELECT * FROM users WHERE name LIKE %s ORDER BY name LIMIT 3', 'page%')), names(q.where(User.name > 'page5').limit(2)), q.first().name, len(q)]


@test('subqueries, case, unions')
def _():
    people('sub')
    spent = Order.select(Order.user, fn.SUM(Order.amount).alias('total')).group_by(Order.user).alias('spent')
    joined = User.select(User.name, spent.c.total).join(spent, on=(spent.c.user_id == User.id)).where(of('sub')).order_by(User.name)
    latest = User.select(User.name, Order.select(fn.MAX(Order.amount)).where(Order.user == User.id).alias('top')).where(of('sub')).order_by(User.name)
    kind = User.select(User.name, Case(None, [(User.age > 23, 'old'), (User.age.is_null(), 'unknown')], 'young').alias('kind')).where(of('sub')).order_by(User.name)
    a, b = User.select(User.name).where(User.name == 'sub1'), User.select(User.name).where(User.name.in_(['sub1', 'sub2']))
    return [list(joined.tuples()), list(latest.tuples()), list(kind.tuples()), sorted((a | b).tuples()), sorted((a + b).tuples()), sorted((a | b).order_by(SQL('name')).limit(1).tuples())]


@test('common table expressions and windows')
def _():
    people('cte')
    old = User.select(User.id, User.name, User.age).where(of('cte'), User.age > 21).cte('old')
    with_ = old.select_from(old.c.name, old.c.age).order_by(old.c.age)
    base = User.select(SQL('1').alias('n')).where(User.name == 'cte1').cte('counted', recursive=True, columns=('n',))
    counted = base.union_all(base.select(base.c.n + 1).where(base.c.n < 5))
    w = Window(partition_by=[User.active], order_by=[User.age.desc()])
    ranked = User.select(User.name, fn.RANK().over(w).alias('r'), fn.SUM(User.age).over(w).alias('s')).where(of('cte'), User.age.is_null(False)).window(w).order_by(SQL('r'))
    return [list(with_.tuples()), list(counted.select_from(counted.c.n).tuples()), list(ranked.tuples())]


@test('transactions and nested savepoints over several users')
def _():
    users = people('trx', 4)

    def ages():
        return [u.age for u in User.select().where(of('trx')).order_by(User.name)]
    out = []
    try:
        with db.atomic():
            for u in users:
                User.update(age=1).where(User.id == u.id).execute()
            raise ValueError
    except ValueError:
        out.append(ages())
    with db.atomic() as outer:
        User.update(age=50).where(User.id == users[0].id).execute()
        with db.atomic() as inner:
            User.update(age=51).where(User.id == users[1].id).execute()
            with db.savepoint() as deep:
                User.update(age=52).where(User.id == users[2].id).execute()
                deep.rollback()
            User.update(age=53).where(User.id == users[3].id).execute()
            out.append(ages())
        out.append(ages())
        with db.atomic() as third:
            User.delete().where(User.id == users[0].id).execute()
            third.rollback()
    out.append(ages())
    with db.manual_commit():
        db.begin()
        User.delete().where(User.id == users[0].id).execute()
        db.rollback()
    with db.transaction() as t:
        User.update(age=99).where(User.id == users[0].id).execute()
        t.commit()
        User.update(age=98).where(User.id == users[0].id).execute()
        t.rollback()
    return [*out, ages(), db.in_transaction()]


@test('locking reads')
def _():
    users = people('lock', 3)
    with db.atomic():
        return [User.select().where(User.id == users[0].id).for_update().get().name, names(User.select().where(of('lock')).order_by(User.name).for_update('FOR UPDATE'))]


@test('errors')
def _():
    u = User.create(name='error')
    tag = Tag.create(name='error')
    UserTag.create(user=u, tag=tag)
    kinds = [refused(f)[:2] for f in (lambda: UserTag.create(user=u, tag=tag), lambda: db.execute_sql('SELEC 1'), lambda: db.execute_sql('SELECT * FROM missing'),
                                      lambda: db.execute_sql('SELECT missing FROM users'), lambda: User.insert(name=None).execute())]
    return [kinds, refused(lambda: Tag.create(name='error'))[:2]]


@test('types')
def _():
    class Kind(Base):
        user = ForeignKeyField(User, primary_key=True, constraint_name='kind_user')
        text = TextField()
        blob = BlobField()
        double = DoubleField()
        exact = DecimalField(20, 6)
        at = DateTimeField(null=True)
        clock = TimeField()

        class Meta:
            table_settings = ["COMMENT='locus: owner=user_id'"]
    Kind.create_table()
    users = people('kind', 3)
    for i, u in enumerate(users):
        Kind.insert(user=u, text='ä€😀\\' + "'" * i, blob=bytes([0, 255, 39, 92, i]), double=1.5 * i, exact=decimal.Decimal('12345678901234.123456'), at=datetime.datetime(2026, 2, 3, i), clock=datetime.time(1, 2, i)).execute()
    fields = [Kind.text, Kind.blob, Kind.double, Kind.exact, Kind.at, Kind.clock]
    out = [list(Kind.select(*fields).order_by(Kind.at).tuples()), list(Kind.select(Kind.at.year, Kind.at.hour, Kind.at.truncate('day')).order_by(Kind.at).tuples())]
    Kind.drop_table()
    return [*out, Kind.table_exists()]


@test('migrations and reflection of a sharded table')
def _():
    class Parcel(Base):
        user = ForeignKeyField(User, constraint_name='parcel_user')
        note = CharField(20)

        class Meta:
            table_settings = ["COMMENT='locus: owner=user_id'"]
    Parcel.create_table()
    for i, u in enumerate(people('parcel', 4)):
        Parcel.insert_many([{'user': u, 'note': f'{i}{k}'} for k in range(2)]).execute()
    m = MySQLMigrator(db)
    migrate(m.add_column('parcel', 'weight', IntegerField(default=7)), m.add_index('parcel', ('note', 'weight')), m.alter_column_type('parcel', 'note', CharField(60)))
    db.execute_sql('UPDATE parcel SET weight = weight + 1 WHERE note > %s', ('1',))
    out = [list(db.execute_sql('SELECT note, weight FROM parcel ORDER BY note')), [(i.columns, i.unique) for i in sorted(db.get_indexes('parcel'), key=lambda i: i.name)]]
    migrate(m.rename_column('parcel', 'weight', 'grams'), m.drop_index('parcel', 'parcel_note_weight'), m.add_not_null('parcel', 'note'), m.drop_not_null('parcel', 'note'), m.rename_table('parcel', 'crate'))
    out += [sorted((c.name, c.data_type, c.null, c.primary_key) for c in db.get_columns('crate')), db.get_primary_keys('crate'), [(f.column, f.dest_table, f.dest_column) for f in db.get_foreign_keys('crate')]]
    crate = generate_models(db, table_names=['crate'])['crate']
    out += [list(crate.select(crate.note, crate.grams).order_by(crate.note).tuples())]
    migrate(m.drop_column('crate', 'grams'))
    out += [sorted(db.get_tables()), sorted(c.name for c in db.get_columns('crate'))]
    db.drop_tables([crate])
    return [*out, db.table_exists('crate')]


@test('truncate and drop')
def _():
    class Scrap(Base):
        user = BigAutoField()

        class Meta:
            table_settings = ["COMMENT='locus: owner=user'"]
    Scrap.create_table()
    Scrap.insert_many([{'user': i} for i in range(1, 9)]).execute()
    out = [Scrap.select().count()]
    Scrap.truncate_table()
    out += [Scrap.select().count()]
    Scrap.drop_table()
    return [*out, Scrap.table_exists()]


end()
