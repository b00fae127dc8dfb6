// What the kernel sends, and what the modules hand to each other: for the checker, not the browser.

type Pair = [string, string];
type Clock = Pair[];
type Labels = Record<string, string>;
type Words = Record<string, Pair>;
type Keys = Record<string, () => void>;
type EdgeData = [string, string, string];

interface Summary {
  short: string;
  long?: Pair;
  beside?: string;
  swatch?: number | string;
  top?: string;
  drawn?: Pair;
  grid?: string[][];
  bad?: boolean;
  origin?: boolean;
}

/** The cells of a swatch; `whole`: of integers or truth values, whose colours are their own. */
interface Raster {
  kind: string;
  cells: (number | undefined)[][];
  whole: boolean;
}

/** What a saved page says of an output of its program; `forms` by the letter of their sign. */
interface Said {
  short: string;
  long: Pair;
  raster: Raster | null;
  beside: string;
  bad: boolean;
  decision: number;
  forms: Record<string, string>;
}

interface ProgramOutput {
  shape: number[];
  dtype: string;
}

/** A program of a saved page. */
interface Network {
  feeds: { name: string; shape: number[] }[];
  outputs: ProgramOutput[];
  run(feeds: Record<string, number[]>): number[][];
}

/** The content of a page for some positions of its sliders. */
interface ShownPlace {
  data: any;
  index: number;
  outputs: Said[];
}

interface KeptPlace extends Omit<ShownPlace, "outputs"> {
  inputs: number[];
  program: number;
}

interface PlayedNode {
  label: string;
  title?: Pair | number;
  kind: Pair | number;
  shape: string;
  dtype: string;
  input?: boolean;
  born: number | null;
  freed?: number | null;
  values: [number, Summary][];
  gradients: [number, Summary][];
  answers?: Record<string, [number, number | Pair][]>;
}

/** A share of a gradient on its way back; forward, a value is sent as the words for it. */
interface Share {
  value: string;
  bad?: boolean;
  upstream?: string;
  local?: string;
  rule?: string;
  before?: string;
  after?: string;
  swatch?: number;
}

interface Frame {
  captions: Pair[];
  active: string[];
  still?: boolean[];
  flows?: Record<string, string | Share>;
  notes?: Record<string, string>;
  failed?: string[];
}

interface View {
  svg: string;
  middle?: string; // as it is laid out for a notebook, if that is another drawing
  narrow?: string; // and for a phone
  home: Record<string, string>;
  arrows: Record<string, [string, string]>;
  counts: Record<string, string[][]>;
  closed: Record<string, string[]>;
  open: Record<string, string>;
  nodes: Record<string, PlayedNode>;
}

interface GraphData {
  title: Pair | null;
  alt: string;
  plan: boolean;
  views: Record<string, View>;
  shown: string;
  layers: string;
  groups: string[];
  table: string;
}

type NoteKind = "built" | "run" | "both" | "gradient";
/**
 * Step, row, what happened, nodes, and their sort, if they are no operators; sent: the ids together. Where
 * the step is a number between two, the note stands there, and belongs to the nearest.
 */
type SentNote = [number, number, NoteKind, string, string?];
type Note = [number, number, NoteKind, string[], string | undefined, number];

/** A film as a staff of the score: rows with whether they are code, lives and phases from step to step. */
interface Lane {
  label: Pair;
  said: string;
  plan: boolean;
  rows: [string, boolean, string?][];
  prefix: string;
  notes: SentNote[];
  lives: [number, number, number][];
  phases: ["both" | "build" | "gradients" | "run" | "backward", number, number][];
  counted: [number, number, number, number, number][];
  through: Pair;
  columns?: [Pair, Pair][];
}

type Noted = Record<string, Pick<PlayedNode, "label" | "values" | "gradients"> & Partial<Pick<PlayedNode, "freed">>>;

/** What a score is drawn of. */
interface Scored {
  lanes: Lane[];
  frames: ArrayLike<object>;
  nodes: Noted;
  edges?: Record<string, string[]>;
  swatches?: string[];
  words: Words;
}

/** How many digits of its numbers a drawing has, at most; and how many the card that needs fewest. */
interface Digits {
  most: number;
  need: number;
}

/** Where a staff is drawn, in pixels. */
interface Place {
  left: number;
  column: number;
  row: number;
  top: number;
  radius: number;
  /** of the mark that has grown most, and how each shows its number */
  largest: number;
  wide: number;
  high: number;
  silent: boolean;
  own: Map<Note, { text: string; font: number; radius: number; beside: number; added?: { text: string; x: number; y: number } }>;
}

interface SliderData {
  label: string | Pair;
  value: number;
  low: number;
  high: number;
  step: number;
}

interface Data {
  name: string;
  graphs: GraphData[];
  nodes: Record<string, PlayedNode>;
  edges: Record<string, EdgeData>;
  links: Record<string, string>;
  frames: Frame[];
  texts: Pair[];
  swatches: string[];
  lanes: Lane[];
  listing: [string, number, string[]][];
  sliders: SliderData[];
  verdict: Pair | null;
  equal: boolean;
  still: boolean;
  trouble?: string;
  words: Words;
  labels: Labels;
}

interface ViewMessage {
  kind: string;
  graph: number;
  key: string;
  view: View;
}

/** What anywidget, or a saved page, gives to a widget. */
interface Model {
  widget_manager?: unknown;
  kept?: unknown; // a saved page: what it computed beforehand for positions of its sliders
  get(name: string): any;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(name: string, listener: (...args: any[]) => void): void;
  off(name: string, listener: (...args: any[]) => void): void;
  send(message: unknown): void;
}

/** Where a stepper is, and how it goes elsewhere. */
interface Steps {
  at(): number;
  last(): number;
  rest?(): number;
  show(index: number, jump?: boolean, touched?: boolean): void;
  words?: Words;
  fresh?(): boolean;
}

interface Point {
  x: number;
  y: number;
}

interface Extent extends Point {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

interface Zoom {
  box: HTMLElement;
  scale: number;
  apply(): void;
  fits(): number;
  whole(): boolean;
  resized?: () => void;
}

interface Card {
  g: SVGGElement;
  id: string;
  kind: string;
  members: string[];
  counts: string[];
  cells: { g: Element; counts: string[]; seen: Record<string, unknown> }[];
  parts: Record<"value" | "grad" | "built" | "ran" | "del", SVGTextElement | null>;
  slots: Record<"value" | "grad", Element | null>;
  done: Element | null;
  whole: number;
  sign: string;
  title: string;
  seen: Record<string, unknown>;
}

interface Arrow {
  g: SVGGElement;
  id: string;
  line: SVGPathElement | null;
  lane: SVGPathElement | null;
  ends: [string, string] | [];
  seen: Record<string, unknown>;
}

/** One panel: the drawing that is shown of a graph. */
interface Stage {
  drawing: HTMLElement;
  plan: boolean;
  cards: Map<string, Card>;
  arrows: Map<string, Arrow>;
  references: Element[];
  layer: HTMLElement;
  shown: string;
  view: View;
  offset: Point;
  stop: Card | null;
  scale(): number;
  suit(size: number): void; // 0 on a page, 1 in a notebook, 2 on a phone
  passed?: { view: View; frames: Frame[]; used: Map<string, [number, number][]> };
  extent(g: Element): Extent;
  course(path: SVGPathElement): Point[];
  show(key: string): void;
  enter(card: Card | undefined): void;
  reach(): void;
  around(card: Card): string[];
  toggle(groups: string[]): void;
  open(groups: string[]): void;
  can(groups: string[]): boolean;
  home(id: string): string;
  arrived(message: ViewMessage): void;
}

interface StageActions {
  choose(id: string, focus?: boolean): void;
  hover(id: string, on: boolean): void;
  repaint(focused: boolean): void;
  graphs(): Stage[];
}

/** What is written on a chip. */
interface Cargo {
  text: string;
  swatch?: string;
  bad?: boolean;
}

interface Flow {
  arrow: Arrow;
  back: boolean;
  path: SVGPathElement;
  value: Cargo;
  told: Cargo | null;
}

interface Aim {
  flow: Flow;
  points: Point[];
  spot: Point | null;
  told: Cargo;
  size: number;
}

/** A drawing of a board, and what a click on its nodes tells. */
interface Drawn {
  svg: string;
  prefix: string;
  alt: string;
  nodes: Record<string, { title: Pair; shape: string; line: string }>;
  table: string;
}

interface PanelData {
  title: Pair;
  drawing: number | null;
  marks: Record<string, string>;
  notes: Record<string, string>;
  held: Record<string, number>;
  code: [string, string][];
  svg: string;
  message: Pair | null;
}

interface SceneData {
  caption: Pair;
  say: string;
  facts: Pair[];
  row: number | null;
  place: string;
  inputs: number[];
  panels: PanelData[];
}

interface BoardData {
  scenes: SceneData[];
  drawings: Drawn[];
  values: Summary[];
  moves: boolean;
  lanes: (Lane & { nodes: Noted })[];
  sliders: SliderData[];
  trouble: string;
  switches: { key: string; on: boolean }[];
  sheet: string;
  verdict: Pair | null;
  words: Words;
  labels: Labels;
  slider: string;
  signs: Record<string, string>;
  legend: Words;
  table_title: Pair;
}

/** A node or an arrow of a board: its classes, and what was written in it. */
interface Part {
  g: Element;
  card: boolean; // or an arrow
  slot: Element | null;
  swatch: Element | null;
  kind: string;
  look: string;
  said: string;
  seen: string;
}

interface TrainData {
  state: string;
  status: string;
  times: string;
  done: number;
  total: number | null;
  labels: Labels;
}

// The explorer of a whole model.

interface Portrait {
  values?: (number | string)[]; // of few elements
  shape?: number[]; // of the tensor that it is of
  bad?: number;
  below?: number;
  at?: [number | string, number, number]; // the first element, and the places of the largest and the smallest
  min?: number | string;
  max?: number | string;
  mean?: number | string;
  std?: number | string;
  norm?: number | string;
  zeros?: number;
  w?: number;
  h?: number;
  tile?: number;
  cells?: string;
  scale?: number; // the size of a cell in full colour; 0: all cells are zero
  hist?: string;
}

interface AtlasTensor {
  shape: number[];
  dtype: string;
  unknown?: boolean; // it did not run
  v?: number;
  g?: number;
}

interface AtlasOperator extends AtlasTensor {
  fixed?: boolean;
  op: string;
  sign: string;
  title: Pair;
  formula: number;
  reads: number[];
  line: number;
  ms: number;
  back?: number;
  kept?: number;
  weights?: number[];
  mark?: "box" | "cut";
}

interface AtlasRow {
  parent: number | null;
  name: string;
  kind: string;
  a: number;
  b: number;
  op?: number;
  input?: number;
  children?: number[];
  repeats?: boolean;
}

interface AtlasData {
  name: string;
  system: string;
  heading: Pair;
  verdict?: Pair;
  about?: Pair;
  failure?: Pair;
  failed?: number;
  start?: number;
  nodes: AtlasRow[];
  operators: AtlasOperator[];
  inputs: (AtlasTensor & { name: string })[];
  parameters: (AtlasTensor & { name: string; size: number; kept?: "frozen" | "buffer" })[];
  portraits: Portrait[];
  lines: [string, number, string][];
  formulas: string[];
  outputs: number[];
  backward: boolean;
  findings: { text: Pair; op: number; bad: boolean; node?: number; about?: string }[];
  words: Words;
}

interface AtlasNode extends AtlasRow {
  i: number;
  depth: number;
  out: number;
  grad: boolean;
  sum: { params: number; ms: number; back: number; total: number; kept: number; count: number; weights: number[] };
  shown: Box | null;
}

interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}

interface Camera {
  x: number;
  y: number;
  kx: number;
  ky: number;
}

interface AtlasEnd {
  id: string;
  node?: AtlasNode;
  port?: "in" | "out";
  tensor?: number;
  x?: number;
  y?: number;
  tight?: boolean;
}

interface AtlasEdge {
  from: AtlasEnd;
  to: AtlasEnd;
  tensor: number;
  points: [number, number][];
  turns: boolean;
  label?: string;
}

interface AtlasSpot extends Box {
  row: number;
  column: number;
  lane: number;
  port: boolean;
}

interface AtlasPlaces {
  rects: Map<number, number[]>;
  edges: AtlasEdge[];
  ports: AtlasEnd[];
  stubs: { port: AtlasEnd; points: [number, number][] }[];
  head: number;
  wide: boolean;
}

interface AtlasModel {
  data: AtlasData;
  n: number;
  nodes: AtlasNode[];
  root: AtlasNode;
  tensors: AtlasTensor[];
  readers: number[][];
  leaves: AtlasNode[];
  ends: number[];
  rows: AtlasNode[];
  end: number;
  failed: number;
  troubles: number[];
  places: Map<number, AtlasPlaces>;
}

interface AtlasStep {
  node: AtlasNode;
  back: boolean;
  from: number;
  to: number;
}

interface Atlas {
  m: AtlasModel;
  pen: any;
  speech: any;
  readonly ink: Record<string, string>;
  size: { w: number; h: number };
  time: number;
  now: AtlasNode | null;
  focus: AtlasNode;
  open: Set<number>;
  selected: AtlasNode | null;
  hovered: AtlasNode | null;
  moving: { node: AtlasNode; back: boolean; group: AtlasNode; share: number } | null;
  camera: Camera;
}
