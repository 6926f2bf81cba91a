from django.db import models


class Parcel(models.Model):
    buyer_uid = models.BigIntegerField(db_index=True)
    note = models.CharField(max_length=40, null=True)
    weight = models.IntegerField(default=7, db_index=True)

    class Meta:
        db_table = 'depot_crate'
