package virtual

import (
	"locus/router/catalog"
)

func declarationRow(name catalog.TableName, d catalog.Declaration) []any {
	id, layout := "", ""
	if d.ID != nil {
		id, layout = d.ID.Column, d.ID.Layouts()
	}
	owner := d.Owner
	if d.Parent != nil && owner == "" {
		owner = d.Parent.Column
	}
	return []any{
		name.Schema, name.Name, string(d.Kind), text(owner), text(id), text(layout), text(d.OrderNumber), text(d.Version), text(string(d.Shard)),
	}
}
