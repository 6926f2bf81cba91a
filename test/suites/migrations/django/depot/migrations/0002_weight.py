from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [('depot', '0001_initial')]
    operations = [
        migrations.AddField('parcel', 'weight', models.IntegerField(default=7, db_index=True)),
        migrations.AlterField('parcel', 'note', models.CharField(max_length=40, null=True)),
    ]
