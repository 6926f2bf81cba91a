from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [('depot', '0002_weight')]
    operations = [migrations.AlterModelTable('parcel', 'depot_crate')]
