from django.db import migrations, models


class Migration(migrations.Migration):
    operations = [
        migrations.CreateModel('Parcel', [
            ('id', models.AutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ('buyer_uid', models.BigIntegerField(db_index=True)),
            ('note', models.CharField(max_length=20, null=True)),
        ]),
        # This version of Django knows no comments of tables.
        migrations.RunSQL("ALTER TABLE depot_parcel COMMENT 'locus: owner=buyer_uid'", migrations.RunSQL.noop),
    ]
