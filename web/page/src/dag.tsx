// Draws dependencies in columns, with each node to the right of its predecessors.
import { shortened } from "./shortened";

export interface Node {
  key: string;
  name: string;
  href?: string; // address to which the node links
  state: string;
  look: string;
  isCritical: boolean;
  after: string[];
}

const NODES_MAX = 60;
const WIDTH = 180;
const LETTERS = 26; // that fit in a line of a box
const NARROW_LETTERS = 34; // that fit in narrower letters
const LINE = 17;
const GAP_X = 40;
const GAP_Y = 14;

// Returns the column of each node, which is 0 for nodes without predecessors. Breaks cycles, which
// a log may contain.
function columnsOf(nodes: Node[]): Map<string, number> {
  const byKey = new Map(nodes.map((node) => [node.key, node]));
  const columns = new Map<string, number>();
  const visiting = new Set<string>();
  const columnOf = (key: string): number => {
    const known = columns.get(key);
    if (known !== undefined) return known;
    if (visiting.has(key)) return 0;
    visiting.add(key);
    const before = (byKey.get(key)?.after ?? []).filter((each) => byKey.has(each));
    const column = before.length === 0 ? 0 : 1 + Math.max(...before.map(columnOf));
    visiting.delete(key);
    columns.set(key, column);
    return column;
  };
  nodes.forEach((node) => columnOf(node.key));
  return columns;
}

// Returns a name as one or two lines, broken between words if possible. The middle of a longer name
// is left out.
export function linesOf(name: string): string[] {
  const text = shortened(name, 2 * LETTERS - 1);
  const letters = [...text];
  if (letters.length <= LETTERS) return [text];
  const space = letters.slice(0, LETTERS + 1).lastIndexOf(" ");
  const end = space >= letters.length - LETTERS - 1 && space > 0 ? space : LETTERS;
  return [letters.slice(0, end).join(""), letters.slice(end).join("").trim()];
}

export function Dag({ nodes, what }: { nodes: Node[]; what: string }) {
  if (nodes.length < 2 || !nodes.some((node) => node.after.length > 0)) return null;
  if (nodes.length > NODES_MAX) {
    return <p title={`The page draws dependencies of up to ${NODES_MAX} nodes`}>With {nodes.length} {what}, the dependencies are not drawn; the timeline shows all {what}.</p>;
  }
  const columns = columnsOf(nodes);
  const names = new Map(nodes.map((node) => [node.key, linesOf(node.name)]));
  const lines = 1 + Math.max(...[...names.values()].map((each) => each.length));
  const boxHeight = 10 + LINE * lines;
  const rows: number[] = [];
  const places = new Map<string, { x: number; y: number }>();
  for (const node of nodes) {
    const column = columns.get(node.key) ?? 0;
    const row = (rows[column] = (rows[column] ?? -1) + 1);
    places.set(node.key, { x: column * (WIDTH + GAP_X), y: row * (boxHeight + GAP_Y) });
  }
  const isCritical = new Set(nodes.filter((node) => node.isCritical).map((node) => node.key));
  const width = rows.length * (WIDTH + GAP_X) - GAP_X;
  const height = (Math.max(...rows) + 1) * (boxHeight + GAP_Y) - GAP_Y;
  return (
    <div class="dag" tabIndex={0} role="region" aria-label={`Dependencies of ${nodes.length} ${what}`}>
      <svg width={width + 4} height={height + 4} viewBox={`-2 -2 ${width + 4} ${height + 4}`} role="group"
        aria-label={`${nodes.length} ${what}`}>
        {nodes.flatMap((node) =>
          node.after.map((before) => {
            const from = places.get(before);
            const to = places.get(node.key)!;
            if (!from) return null;
            const [x1, y1, x2, y2] = [from.x + WIDTH, from.y + boxHeight / 2, to.x, to.y + boxHeight / 2];
            const bend = (x1 + x2) / 2;
            return <path key={`${before} ${node.key}`} class={`edge ${isCritical.has(before) && node.isCritical ? "critical" : ""}`} d={`M${x1},${y1}C${bend},${y1} ${bend},${y2} ${x2},${y2}`} />;
          }),
        )}
        {nodes.map((node) => {
          const { x, y } = places.get(node.key)!;
          const box = (
            <g key={node.key} class={`node ${node.look} ${node.isCritical ? "critical" : ""}`}>
              <title>{`${node.name}: ${node.state}${node.isCritical ? "; a delay here delays the whole" : ""}`}</title>
              <rect x={x} y={y} width={WIDTH} height={boxHeight} rx={4} />
              {names.get(node.key)!.map((line, i) => <text key={i} x={x + 8} y={y + LINE * (i + 1)}>{line}</text>)}
              <text
                x={x + 8} y={y + LINE * lines} class="node-state"
                textLength={[...node.state].length > LETTERS ? WIDTH - 16 : undefined} lengthAdjust="spacingAndGlyphs"
              >{shortened(node.state, NARROW_LETTERS)}</text>
            </g>
          );
          return node.href ? <a key={node.key} href={node.href}>{box}</a> : box;
        })}
      </svg>
    </div>
  );
}
