ALTER TABLE parcel DROP INDEX by_weight, DROP COLUMN weight;
