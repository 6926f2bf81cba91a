'use strict';
// Starts Ghost, which makes its tables, and has it do what a site does. Each step's answer goes into the report, without what is made
// of the time or at random.

const { spawn } = require('child_process');
const fs = require('fs');
const net = require('net');
const path = require('path');

const env = process.env;
const content = fs.mkdtempSync(path.join(env.TMPDIR || '/tmp', 'ghost-'));
let base, cookie, child, log = '';

function say(name, state, what) {
  fs.appendFileSync(env.APP_REPORT, `${state}\t${name}\t${String(what).replace(/\n/g, '\\n')}\n`);
}

async function step(name, run) {
  try {
    say(name, 'passed', JSON.stringify(await run()));
  } catch (e) {
    say(name, 'failed', `${e.message} ${log.slice(-1500)}`);
    console.error(name, e, log.slice(-3000));
  }
}

const port = () => new Promise((ok) => {
  const s = net.createServer().listen(0, '127.0.0.1', () => { const p = s.address().port; s.close(() => ok(p)); });
});

async function start() {
  const at = await port();
  base = `http://127.0.0.1:${at}`;
  for (const d of ['data', 'images', 'files', 'media', 'logs', 'settings', 'public', 'apps']) fs.mkdirSync(path.join(content, d), { recursive: true });
  fs.cpSync(path.join(env.APP_DIR, 'content/themes'), path.join(content, 'themes'), { recursive: true, dereference: true });
  child = spawn(process.execPath, ['index.js'], {
    cwd: env.APP_DIR,
    env: {
      ...env, NODE_ENV: 'production', url: `${base}/`, server__host: '127.0.0.1', server__port: String(at), database__client: 'mysql',
      database__connection__host: env.APP_HOST, database__connection__port: env.APP_PORT, database__connection__user: env.APP_USER,
      database__connection__password: env.APP_PASSWORD, database__connection__database: env.APP_DATABASE, paths__contentPath: content,
      mail__transport: 'stub', mail__from: 'owner@site.example', privacy__useUpdateCheck: 'false', privacy__useGravatar: 'false', privacy__useRpcPing: 'false',
      security__staffDeviceVerification: 'false', spam__user_login__freeRetries: '1000', spam__user_login__minWait: '1',
      imageOptimization__resize: 'false', logging__level: 'error', logging__transports: '["stdout"]',
    },
  });
  for (const out of [child.stdout, child.stderr]) out.on('data', (d) => { log += d; });
  const ended = new Promise((_, fail) => child.on('exit', (code) => fail(new Error(`Ghost ended with ${code}`))));
  ended.catch(() => {});
  await Promise.race([ended, (async () => {
    for (let n = 0; n < 600; n++) {
      const up = await fetch(`${base}/ghost/api/admin/site/`).then((r) => r.status === 200, () => false);
      if (up) return;
      await new Promise((ok) => setTimeout(ok, 500));
    }
    throw new Error('Ghost does not come up');
  })()]);
}

async function call(method, where, body) {
  const r = await fetch(`${base}/ghost/api/admin/${where}`, {
    method, body: body && JSON.stringify(body),
    headers: { 'content-type': 'application/json', 'accept-version': 'v5.0', origin: base, ...(cookie && { cookie }) },
  });
  const set = r.headers.get('set-cookie');
  if (set) cookie = set.split(';')[0];
  const text = await r.text();
  if (r.status >= 500) throw new Error(`${method} ${where}: ${r.status} ${text.slice(0, 500)}`);
  return { status: r.status, ...(text && text.startsWith('{') ? JSON.parse(text) : {}) };
}

const errors = (r) => [r.status, (r.errors || []).map((e) => [e.type, e.message, e.context])];
const post = (p) => p && [p.title, p.slug, p.status, p.featured, p.html, p.visibility, (p.tags || []).map((t) => t.name), (p.authors || []).map((a) => a.name), p.meta_title];
const member = (m) => m && [m.email, m.name, m.note, m.status, (m.labels || []).map((l) => l.name).sort(), (m.newsletters || []).map((n) => n.name)];
const list = (r, what, of) => [r.status, r.meta && r.meta.pagination, (r[what] || []).map(of), errors(r)[1]];

async function main() {
  await step('install', start);
  if (!child || child.exitCode !== null) return;
  await step('set up', async () => errors(await call('POST', 'authentication/setup/', {
    setup: [{ name: 'Owner', email: 'owner@site.example', password: 'sesame-4f1d0c7a92', blogTitle: 'A site' }],
  })));
  await step('set up twice', async () => errors(await call('POST', 'authentication/setup/', {
    setup: [{ name: 'Other', email: 'other@site.example', password: 'sesame-4f1d0c7a92', blogTitle: 'B' }],
  })));
  await step('log in wrongly', async () => errors(await call('POST', 'session/', { username: 'owner@site.example', password: 'wrong-wrong-wrong' })));
  await step('log in', async () => errors(await call('POST', 'session/', { username: 'owner@site.example', password: 'sesame-4f1d0c7a92' })));
  await step('who', async () => { const r = await call('GET', 'users/me/?include=roles'); return list(r, 'users', (u) => [u.name, u.email, u.roles.map((x) => x.name)]); });

  const made = [];
  for (let n = 1; n <= 24; n++) {
    await step(`post ${n}`, async () => {
      const r = await call('POST', 'posts/?source=html&formats=html&include=tags,authors', { posts: [{
        title: `Post nº ${n} it's "é"`, html: `<p>Words of ${n}: ${n % 2 ? 'odd' : 'even'} 😀</p>`, status: n % 4 ? 'published' : 'draft', featured: n % 3 === 0,
        published_at: new Date(Date.UTC(2024, 0, n)).toISOString(), // none at the same second as another, for pages in the order of that
        tags: [`tag ${n % 5}`, n % 2 ? 'Odd' : 'Even'],
      }] });
      made.push((r.posts || [])[0]);
      return list(r, 'posts', post);
    });
  }
  await step('one title twice', async () => list(await call('POST', 'posts/?source=html&formats=html', { posts: [{ title: `Post nº 1 it's "é"`, html: '<p>x</p>' }] }), 'posts', post));
  await step('a post without a title', async () => errors(await call('POST', 'posts/', { posts: [{ html: '<p>x</p>' }] })));
  for (const n of [2, 3, 4]) {
    await step(`edit ${n}`, async () => list(await call('PUT', `posts/${made[n].id}/?source=html&formats=html&include=tags,authors`, { posts: [{
      title: `Edited ${n}`, html: '<p>anew</p>', status: 'published', meta_title: `meta ${n}`, tags: [{ name: 'Edited' }], updated_at: made[n].updated_at,
    }] }), 'posts', post));
  }
  await step('edit of what has changed', async () => [(await call('PUT', `posts/${made[2].id}/`, { posts: [{ title: 'lost', updated_at: '2001-01-01T00:00:00.000Z' }] })).status]);
  await step('delete', async () => [(await call('DELETE', `posts/${made[10].id}/`)).status, (await call('GET', `posts/${made[10].id}/`)).status]);
  for (const [name, query] of Object.entries({
    all: 'limit=all&order=title asc', page: 'limit=5&page=2&order=title desc', drafts: 'filter=status:draft&order=title asc&limit=all',
    tagged: 'filter=tag:odd%2Bfeatured:true&order=title asc&limit=all', words: "filter=title:~'nº 1'&order=title asc&limit=all", either: 'filter=tag:[edited,tag-1],featured:true&order=title asc&limit=all',
    wrong: 'filter=nothing:::', authored: 'filter=author:owner&order=slug asc&limit=3',
  })) {
    await step(`posts: ${name}`, async () => list(await call('GET', `posts/?${query.replace(/ /g, '%20')}&formats=html&include=tags,authors`), 'posts', post));
  }
  await step('page', async () => list(await call('POST', 'pages/?source=html&formats=html', { pages: [{ title: 'About us', html: '<h2>We</h2>', status: 'published' }] }), 'pages', post));
  await step('pages', async () => list(await call('GET', 'pages/?limit=all&order=slug%20asc'), 'pages', (p) => [p.title, p.slug, p.status]));
  await step('tags', async () => list(await call('GET', 'tags/?limit=all&include=count.posts&order=slug%20asc'), 'tags', (x) => [x.name, x.slug, x.count]));
  await step('tag', async () => list(await call('POST', 'tags/', { tags: [{ name: '#hidden', description: 'inner' }] }), 'tags', (x) => [x.name, x.slug, x.visibility]));
  await step('the tag again', async () => list(await call('POST', 'tags/', { tags: [{ name: '#hidden', slug: 'hash-hidden' }] }), 'tags', (x) => [x.name, x.slug]));

  const members = [];
  for (let n = 1; n <= 20; n++) {
    await step(`member ${n}`, async () => {
      const r = await call('POST', 'members/', { members: [{ email: `m${n}@site.example`, name: `Member ${n}`, note: `it's ${n}`, labels: [{ name: n % 2 ? 'odd' : 'even' }, { name: `l${n % 3}` }] }] });
      members.push((r.members || [])[0]);
      return list(r, 'members', member);
    });
  }
  await step('a member twice', async () => errors(await call('POST', 'members/', { members: [{ email: 'M3@site.example' }] })));
  await step('edit a member', async () => list(await call('PUT', `members/${members[4].id}/`, { members: [{ name: 'Renamed', note: '', labels: [{ name: 'new' }], newsletters: [] }] }), 'members', member));
  await step('delete a member', async () => [(await call('DELETE', `members/${members[7].id}/`)).status]);
  for (const [name, query] of Object.entries({
    all: 'limit=all&order=email asc', labelled: 'filter=label:odd&order=email asc&limit=all', search: 'search=member 1&order=email asc&limit=all', subscribed: 'filter=subscribed:false&limit=all', page: 'limit=4&page=3&order=name desc',
  })) {
    await step(`members: ${name}`, async () => list(await call('GET', `members/?${query.replace(/ /g, '%20')}`), 'members', member));
  }
  await step('labels', async () => list(await call('GET', 'labels/?limit=all&include=count.members&order=slug%20asc'), 'labels', (l) => [l.name, l.slug, l.count]));
  await step('newsletters', async () => list(await call('GET', 'newsletters/?limit=all&include=count.members,count.posts'), 'newsletters', (x) => [x.name, x.slug, x.status, x.count]));
  await step('newsletter', async () => list(await call('POST', 'newsletters/', { newsletters: [{ name: 'Second' }] }), 'newsletters', (x) => [x.name, x.slug, x.sort_order]));
  await step('tiers', async () => list(await call('GET', 'tiers/?limit=all&order=slug%20asc'), 'tiers', (x) => [x.name, x.slug, x.type, x.active]));
  await step('settings', async () => { const r = await call('PUT', 'settings/', { settings: [{ key: 'title', value: 'Renamed site' }, { key: 'description', value: 'it’s 😀' }] }); return [r.status, (r.settings || []).filter((x) => /^(title|description|lang|timezone)$/.test(x.key)).map((x) => [x.key, x.value])]; });
  await step('roles', async () => list(await call('GET', 'roles/?limit=all'), 'roles', (x) => [x.name, x.description]));
  let key;
  await step('integration', async () => { const r = await call('POST', 'integrations/?include=api_keys', { integrations: [{ name: 'Reader' }] }); key = r.integrations[0].api_keys.find((k) => k.type === 'content').secret; return list(r, 'integrations', (x) => [x.name, x.slug, x.api_keys.map((k) => k.type).sort()]); });
  await step('content', async () => { const r = await (await fetch(`${base}/ghost/api/content/posts/?key=${key}&limit=all&include=tags,authors&order=slug%20asc`)).json(); return list(r, 'posts', post); });
  await step('content of a slug', async () => { const r = await (await fetch(`${base}/ghost/api/content/posts/slug/edited-3/?key=${key}`)).json(); return list(r, 'posts', post); });
  await step('content without a key', async () => (await fetch(`${base}/ghost/api/content/posts/?key=00`)).status);
  for (const where of ['/', '/about-us/', '/tag/odd/', '/author/owner/', '/rss/', '/sitemap-posts.xml', '/nothing/']) {
    await step(`page ${where}`, async () => { const r = await fetch(base + where); const text = await r.text(); return [r.status, (text.match(/(Post nº \d+|Edited \d+|Renamed site)/g) || []).filter((x, i, all) => all.indexOf(x) === i).sort()]; });
  }
  // What members say below a post. They log in by a link, which the owner is told.
  const said = {}, at = {};
  const speaks = async (who, method, where, body) => {
    const r = await fetch(`${base}/members/api/${where}`, { method, body: body && JSON.stringify(body), headers: { 'content-type': 'application/json', origin: base, cookie: at[who] || '' } });
    const text = await r.text();
    if (r.status >= 500) throw new Error(`${method} ${where}: ${r.status} ${text.slice(0, 500)}`);
    return { status: r.status, ...(text.startsWith('{') ? JSON.parse(text) : {}) };
  };
  const comment = (c) => c && [c.html, c.status, c.member && c.member.name, c.liked, c.count, (c.replies || []).map(comment)];
  await step('comments for all', async () => { const r = await call('PUT', 'settings/', { settings: [{ key: 'comments_enabled', value: 'all' }] }); return [r.status, (r.settings || []).filter((x) => x.key === 'comments_enabled').map((x) => x.value)]; });
  for (const who of [0, 1, 2]) {
    await step(`member ${who + 1} logs in`, async () => {
      const link = await call('GET', `members/${members[who].id}/signin_urls/`);
      const r = await fetch(link.member_signin_urls[0].url, { redirect: 'manual' });
      at[who] = (r.headers.getSetCookie() || []).map((c) => c.split(';')[0]).join('; ');
      const me = await speaks(who, 'GET', 'member/');
      return [r.status, at[who].replace(/=[^;]*/g, ''), me.status, me.email, me.name];
    });
  }
  await step('nobody comments', async () => errors(await speaks(9, 'POST', 'comments/', { comments: [{ post_id: made[0].id, html: '<p>x</p>' }] })));
  for (let n = 0; n < 9; n++) {
    await step(`comment ${n}`, async () => {
      const r = await speaks(n % 3, 'POST', 'comments/', { comments: [{ post_id: made[n % 2].id, html: `<p>It's ${n}, "é" 😀</p>`, ...(n > 5 && { parent_id: said[n - 6] }) }] });
      said[n] = ((r.comments || [])[0] || {}).id;
      return list(r, 'comments', comment);
    });
  }
  await step('like', async () => [(await speaks(1, 'POST', `comments/${said[0]}/like/`)).status, (await speaks(2, 'POST', `comments/${said[0]}/like/`)).status, errors(await speaks(2, 'POST', `comments/${said[0]}/like/`))]);
  await step('unlike', async () => [(await speaks(2, 'DELETE', `comments/${said[0]}/like/`)).status]);
  await step('edit a comment', async () => list(await speaks(1, 'PUT', `comments/${said[1]}/`, { comments: [{ html: '<p>anew</p>' }] }), 'comments', comment));
  await step("edit another's comment", async () => errors(await speaks(2, 'PUT', `comments/${said[1]}/`, { comments: [{ html: '<p>mine</p>' }] })));
  await step('take a comment back', async () => list(await speaks(2, 'PUT', `comments/${said[2]}/`, { comments: [{ status: 'deleted' }] }), 'comments', comment));
  await step('report', async () => errors(await speaks(0, 'POST', `comments/${said[1]}/report/`)));
  await step('hide a comment', async () => { const r = await call('PUT', `comments/${said[4]}/`, { comments: [{ id: said[4], status: 'hidden' }] }); return list(r, 'comments', (c) => [c.html, c.status]); });
  for (const n of [0, 1]) {
    for (const [name, query] of Object.entries({ 'oldest first': 'limit=20&order=created_at asc, id asc', page: 'limit=2&page=2&order=created_at desc, id desc', 'best first': 'limit=20&order=count__likes desc, created_at asc, id asc' })) {
      await step(`comments of ${n}: ${name}`, async () => list(await speaks(1, 'GET', `comments/post/${made[n].id}/?${query.replace(/ /g, '%20')}`), 'comments', comment));
    }
  }
  await step('replies', async () => list(await speaks(0, 'GET', `comments/${said[0]}/replies/?limit=5`), 'comments', comment));
  await step('counts', async () => { const r = await (await fetch(`${base}/members/api/comments/counts/?ids=${made[0].id},${made[1].id}`)).json(); return [r[made[0].id], r[made[1].id]]; });
  await step('post with its comments', async () => { const r = await call('GET', `posts/${made[0].id}/?include=count.comments`); return list(r, 'posts', (p) => [p.title, p.count]); });
  await step('a member goes', async () => [(await call('DELETE', `members/${members[1].id}/`)).status, list(await speaks(0, 'GET', `comments/post/${made[1].id}/?limit=20&order=created_at%20asc,%20id%20asc`), 'comments', comment)]);

  await step('log out', async () => [(await call('DELETE', 'session/')).status, (await call('GET', 'users/me/')).status]);
}

main().catch((e) => say('program', 'failed', e.stack)).finally(() => {
  say('end', 'passed', '');
  if (child) child.kill('SIGKILL');
  fs.rmSync(content, { recursive: true, force: true });
  process.exit(0);
});
