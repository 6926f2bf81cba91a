"""Runs migrations, and fills the table by the mapper."""
import sys

import django
from django.core.management import execute_from_command_line

if sys.argv[1] == 'fill':
    django.setup()
    from depot.models import Parcel
    made = [Parcel.objects.create(buyer_uid=1000 + n, note='x' * 20, weight=7) for n in range(12)]
    for parcel in made:
        assert Parcel.objects.get(pk=parcel.pk).buyer_uid == parcel.buyer_uid
        assert Parcel.objects.filter(buyer_uid=parcel.buyer_uid).count() == 1
else:
    execute_from_command_line()
