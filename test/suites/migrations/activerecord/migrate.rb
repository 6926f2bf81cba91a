# Runs migrations, and fills the table by the mapper.
require 'active_record'

ActiveRecord::Base.establish_connection(
  adapter: 'mysql2', host: ENV['APP_HOST'], port: ENV['APP_PORT'].to_i, username: ENV['APP_USER'], password: ENV['APP_PASSWORD'],
  database: ENV['APP_DATABASE'], encoding: 'utf8mb4'
)
ActiveRecord::Migration.verbose = false

class MakeParcels < ActiveRecord::Migration[6.1]
  def change
    create_table :parcels, id: :integer, comment: 'locus: owner=buyer_uid' do |t|
      t.bigint :buyer_uid, null: false, index: true
      t.string :note, limit: 20
    end
  end
end

class GiveWeight < ActiveRecord::Migration[6.1]
  def change
    add_column :parcels, :weight, :integer, null: false, default: 7
    add_index :parcels, :weight
    reversible { |way| way.up { change_column :parcels, :note, :string, limit: 40 } }
  end
end

class CallThemCrates < ActiveRecord::Migration[6.1]
  def change
    rename_table :parcels, :crates
  end
end

class Parcel < ActiveRecord::Base
  self.table_name = 'crates'
end

schema = ActiveRecord::SchemaMigration
migrations = [MakeParcels.new('MakeParcels', 1), GiveWeight.new('GiveWeight', 2), CallThemCrates.new('CallThemCrates', 3)]
to = ->(direction, version) { ActiveRecord::Migrator.new(direction, migrations, schema, version).migrate }
case ARGV[0]
when 'up' then to.(:up, nil)
when 'back' then to.(:down, 1)
when 'down' then to.(:down, 0)
when 'fill'
  made = (1000...1012).map { |buyer| Parcel.create!(buyer_uid: buyer, note: 'x' * 20) }
  made.each do |parcel|
    raise "parcel #{parcel.id}" unless Parcel.find(parcel.id).buyer_uid == parcel.buyer_uid && Parcel.where(buyer_uid: parcel.buyer_uid).count == 1
  end
end
