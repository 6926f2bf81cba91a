ALTER TABLE crate RENAME TO parcel;
