RENAME TABLE parcel TO crate;
